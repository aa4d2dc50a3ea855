"""Find the rubrics of a document, in our format or in dialects, and near-rubrics."""
