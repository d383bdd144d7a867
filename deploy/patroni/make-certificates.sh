#!/bin/sh
# Make the certificates of etcd and Patroni in the folder `certificates`: an authority, and one certificate for each address.
#   sh make-certificates.sh 10.0.0.11 10.0.0.12 10.0.0.13
# ca.key can sign further certificates. Keep it away from the nodes.
set -eu
umask 077
mkdir certificates
cd certificates
key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
openssl req -x509 $key -days 3650 -subj "/CN=Tickover etcd" -keyout ca.key -out ca.crt -config /dev/fd/3 3<<END
[req]
distinguished_name = subject
x509_extensions = authority
[subject]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
END
for address in "$@"; do
  # etcd uses the same certificate as a server and as a client. A common name would be taken for the name of a user.
  openssl req $key -subj "/O=Tickover etcd" -keyout "$address.key" |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out "$address.crt" -extfile /dev/fd/3 3<<END
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = IP:$address
END
done
