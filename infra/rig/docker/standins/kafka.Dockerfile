# Stands in for apache/kafka. Context: the broker's jars in `jars`. Settings come as KAFKA_NAME_OF_SETTING.
FROM accelerando-rig/debian
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless && rm -rf /var/lib/apt/lists/*
COPY jars /opt/kafka/libs
COPY log4j2.properties /opt/kafka/
COPY kafka-entry /entry
RUN useradd --uid 1000 appuser && mkdir -p /var/lib/kafka/data && chown appuser: /var/lib/kafka/data && chmod 755 /entry
USER appuser
VOLUME /var/lib/kafka/data
ENTRYPOINT ["/entry"]
