# Stands in for postgres:18. Reads POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB as that one does.
FROM accelerando-rig/debian
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql && rm -rf /var/lib/apt/lists/*
ENV PGDATA=/var/lib/postgresql/data
COPY postgres-entry /entry
EXPOSE 5432
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["/entry"]
CMD ["postgres"]
