# What the images of our programs run on: Node 24 and its libraries, laid out as distroless does it. No shell.
FROM resource-broker-kind/debian AS files
COPY copy-programs.sh /
COPY node /nodejs/bin/node
RUN /copy-programs.sh /root-of-image /nodejs/bin/node /lib/x86_64-linux-gnu/libnss_dns.so.2 /lib/x86_64-linux-gnu/libnss_files.so.2 /lib/x86_64-linux-gnu/libresolv.so.2 && \
    cd /root-of-image && mkdir -p etc/ssl/certs home && \
    cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/ && cp /etc/os-release etc/ && \
    echo 'hosts: files dns' >etc/nsswitch.conf && \
    printf '%s:x:%s:%s:%s:%s:/sbin/nologin\n' root 0 0 root /root nobody 65534 65534 nobody /nonexistent nonroot 65532 65532 nonroot /home/nonroot >etc/passwd && \
    printf '%s:x:%s:\n' root 0 nobody 65534 nonroot 65532 >etc/group && \
    install -d -m 0700 -o 65532 -g 65532 home/nonroot

FROM scratch
COPY --from=files /root-of-image /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
WORKDIR /home/nonroot
USER 65532
ENTRYPOINT ["/nodejs/bin/node"]
