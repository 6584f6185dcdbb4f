# Stands in for haproxy:lts.
FROM accelerando-rig/debian
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends haproxy && rm -rf /var/lib/apt/lists/*
USER haproxy
ENTRYPOINT ["haproxy"]
CMD ["-f", "/usr/local/etc/haproxy/haproxy.cfg"]
