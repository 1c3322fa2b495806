#!/bin/sh
# Gives the first packet of each connection from or to a pod to kube-network-policies. It would say so by nftables itself; these
# rules are for kernels without NFT_QUEUE, such as those of small virtual machines. After DNAT and before SNAT, as it wants them.
set -e
iptables -t mangle -N POLICIES 2>/dev/null || iptables -t mangle -F POLICIES
iptables -t mangle -C POSTROUTING -j POLICIES 2>/dev/null || iptables -t mangle -A POSTROUTING -j POLICIES
# What the node itself sends, such as the kubelet's probes, no policy may stop.
iptables -t mangle -A POLICIES -m owner --uid-owner 0 -j RETURN
iptables -t mangle -A POLICIES -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN
iptables -t mangle -A POLICIES -s 10.244.0.0/16 -j NFQUEUE --queue-num 101 --queue-bypass
iptables -t mangle -A POLICIES -d 10.244.0.0/16 -j NFQUEUE --queue-num 101 --queue-bypass
until [ -s /etc/kubernetes/admin.conf ]; do sleep 1; done
