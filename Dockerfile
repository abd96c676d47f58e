# hardgap with the versions that its committed results were made with.
#   docker build -t hardgap . && mkdir -p work
#   docker run --rm --user "$(id -u):$(id -g)" -e HOME=/tmp -v "$PWD/work:/work" hardgap demo
#   docker run --rm --user "$(id -u):$(id -g)" -e HOME=/tmp -v "$PWD/work:/work" -p 127.0.0.1:8377:8377 \
#     hardgap ui --no-browser --host 0.0.0.0
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY constraints.txt ./
# The CPU build of torch first, so that what changes often comes after what takes long.
RUN python -m venv /opt/hardgap \
    && /opt/hardgap/bin/pip install --no-cache-dir --constraint constraints.txt \
       --extra-index-url https://download.pytorch.org/whl/cpu torch
COPY pyproject.toml hatch_build.py README.md LICENSE CHANGELOG.md CITATION.cff ./
COPY src src
COPY results results
RUN /opt/hardgap/bin/pip install --no-cache-dir --constraint constraints.txt \
    --extra-index-url https://download.pytorch.org/whl/cpu ".[pandas]"

FROM python:3.11-slim
COPY --from=build /opt/hardgap /opt/hardgap
RUN useradd --create-home hardgap && mkdir /work && chown hardgap /work
USER hardgap
WORKDIR /work
ENV PATH=/opt/hardgap/bin:$PATH MPLCONFIGDIR=/tmp/matplotlib
ENTRYPOINT ["hardgap"]
CMD ["--help"]
