"""Our format and the words of findings: schemas, versions, the rubric, what breaks its schema.

Call `schema` to validate, `rubric` for the model, `view` to present data of others as ours, `finding` and `messages`
for what is found, `suggest` for the commands that messages suggest.
"""
