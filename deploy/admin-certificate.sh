#!/bin/sh
# Has cert-manager make the certificate of an admin, writes it into a folder for brokerctl, and leaves no key in the cluster:
#   deploy/admin-certificate.sh ops                    # ./ops, from the current context
#   KUBECTL="kubectl --context broker" deploy/admin-certificate.sh ops
# ISSUER (liqo-broker-admin-ca-issuer; without an authority of admins: liqo-broker-ca-issuer), NAMESPACE and DURATION may be set.
set -eu
name=${1:?usage: deploy/admin-certificate.sh NAME}
namespace=${NAMESPACE:-resource-broker-system}
issuer=${ISSUER:-liqo-broker-admin-ca-issuer}
secret=admin-$name
kube() { ${KUBECTL:-kubectl} -n "$namespace" "$@"; }
value() { kube get secret "$1" -o go-template="{{index .data \"$2\" | base64decode}}"; }

kube apply -f - >/dev/null <<END
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: { name: $secret }
spec:
  commonName: $name
  subject: { organizationalUnits: [broker-admin] }
  usages: [client auth]
  secretName: $secret
  duration: ${DURATION:-720h}
  privateKey: { algorithm: ECDSA }
  issuerRef: { name: $issuer, kind: ClusterIssuer }
END
trap 'kube delete --ignore-not-found "certificate/$secret" "secret/$secret" >/dev/null' EXIT
kube wait --for=condition=Ready --timeout=120s "certificate/$secret" >/dev/null
umask 077
mkdir -p "$name"
value "$secret" tls.crt >"$name/tls.crt"
value "$secret" tls.key >"$name/tls.key"
# What an admin verifies is the broker, which the authority of the fleet has signed.
value broker-server-tls ca.crt >"$name/ca.crt"
echo "Wrote $PWD/$name: tls.crt, tls.key and ca.crt. Use it with: export BROKERCTL_CERTS=$PWD/$name"
