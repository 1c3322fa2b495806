# kube-proxy, with the iptables that it calls.
FROM resource-broker-kind/debian AS files
COPY copy-programs.sh /
RUN /copy-programs.sh /root-of-image /usr/sbin/xtables-nft-multi /usr/sbin/nft /usr/sbin/conntrack /usr/bin/kmod /usr/lib/x86_64-linux-gnu/xtables/*.so && \
    cd /root-of-image/usr/sbin && ln -s ../bin/kmod modprobe && \
    for name in iptables ip6tables; do for what in '' -save -restore; do ln -s xtables-nft-multi $name$what; done; done
COPY bin/kube-proxy /root-of-image/usr/local/bin/kube-proxy

FROM scratch
COPY --from=files /root-of-image /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
CMD ["/usr/local/bin/kube-proxy"]
