# docker build --tag rubric-lint .
# docker run --rm --volume "$PWD:/work" rubric-lint

FROM python:3.14-slim-trixie@sha256:51dafde81dbdb6ebde285137a295cf18a47ca95234fe388a343719cb97305b3d AS build
WORKDIR /src
RUN python -m venv /opt/rubric-lint
COPY .ci/lock/run.txt .
RUN /opt/rubric-lint/bin/python -m pip install --no-cache-dir --no-deps --require-hashes --requirement run.txt
COPY LICENSE README.md pyproject.toml ./
COPY rubric_lint ./rubric_lint
COPY schemas ./schemas
COPY skills ./skills
RUN /opt/rubric-lint/bin/python -m pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /opt/rubric-lint/bin/python -m pip uninstall --yes hatchling pip

FROM python:3.14-slim-trixie@sha256:51dafde81dbdb6ebde285137a295cf18a47ca95234fe388a343719cb97305b3d
COPY --from=build /opt/rubric-lint /opt/rubric-lint
ENV PATH=/opt/rubric-lint/bin:$PATH
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["rubric-lint"]
CMD ["."]
