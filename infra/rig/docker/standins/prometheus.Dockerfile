# Stands in for prom/prometheus.
FROM accelerando-rig/debian
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus && rm -rf /var/lib/apt/lists/* && mkdir -p /prometheus && chown nobody /prometheus
USER nobody
WORKDIR /prometheus
ENTRYPOINT ["prometheus"]
