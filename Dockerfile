# The service alone: Neo4j and Qdrant are servers of their own (docker-compose.yml). No network is needed once it is built.
FROM python:3.11-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 XDG_CACHE_HOME=/var/cache
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /tools && /tools/bin/pip install --require-hashes -r requirements.lock
COPY . .
RUN /tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
 && PYTHONPATH=/src /tools/bin/python -c "from graphmem.jars import model_jar; model_jar()"

FROM python:3.11-slim
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    XDG_CACHE_HOME=/var/cache GRAPHMEM_HOME=/var/lib/graphmem
COPY requirements-serve.lock /tmp/
RUN pip install --require-hashes -r /tmp/requirements-serve.lock && rm /tmp/requirements-serve.lock
COPY --from=build /wheels /tmp/wheels
RUN pip install --no-deps /tmp/wheels/*.whl && rm -r /tmp/wheels \
 && useradd --system --user-group graphmem && install -d -o graphmem -g graphmem -m 700 /var/lib/graphmem
COPY --from=build --chown=graphmem /var/cache/graphmem /var/cache/graphmem
USER graphmem
VOLUME /var/lib/graphmem
EXPOSE 8000
CMD ["graphmem", "serve", "--host", "0.0.0.0", "--port", "8000"]
