# An environment with tileir and cuTile Python, and nothing of CUDA: docker build -t tileir . && docker run --rm -it tileir
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /tileir
COPY . .
RUN pip install --no-cache-dir '.[cutile,completion]'
RUN useradd --create-home tileir
USER tileir
CMD ["sh", "-c", "tileir demo && exec bash"]
