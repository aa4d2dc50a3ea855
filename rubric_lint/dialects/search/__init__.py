"""Find the rubrics of a document, ours and those of other systems, and what is nearly one."""
