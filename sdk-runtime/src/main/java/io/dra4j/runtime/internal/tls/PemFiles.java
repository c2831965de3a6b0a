// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;

/** A certificate and its key in two PEM files, as secrets of type kubernetes.io/tls have them. */
record PemFiles(Path certificates, Path key) {

    /** The texts of both files. */
    record Content(String certificates, String key) {}

    /** A certificate, the server's own first, with its key. */
    record Identity(List<X509Certificate> chain, PrivateKey key) {}

    Content read() throws PemException {
        return new Content(text(certificates), text(key));
    }

    private static String text(Path file) throws PemException {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new PemException("Can't read " + file + ": " + e, e);
        }
    }

    Identity identity(Content content) throws PemException {
        List<X509Certificate> chain = chain(certificates, content.certificates());
        PublicKey owner = chain.get(0).getPublicKey();
        PrivateKey own = PemKey.of(key, content.key(), owner);
        try {
            if (!isPair(own, owner)) {
                throw new PemException(
                        "The key in %s is not that of the first certificate in %s".formatted(key, certificates));
            }
        } catch (GeneralSecurityException e) {
            throw new PemException("Can't use the key in " + key + ": " + e.getMessage(), e);
        }
        return new Identity(chain, own);
    }

    static List<X509Certificate> chain(Path source, String pem) throws PemException {
        try {
            List<X509Certificate> chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.ISO_8859_1)))
                    .stream()
                    .map(X509Certificate.class::cast)
                    .toList();
            if (!chain.isEmpty()) {
                return chain;
            }
        } catch (CertificateException e) {
            throw new PemException("Not PEM certificates in " + source + ": " + e.getMessage(), e);
        }
        throw new PemException("No PEM certificate in " + source);
    }

    private static boolean isPair(PrivateKey own, PublicKey owner) throws GeneralSecurityException {
        String algorithm = switch (own.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> own.getAlgorithm();
        };
        byte[] any = {1, 2, 3};
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(own);
        signature.update(any);
        byte[] signed = signature.sign();
        signature.initVerify(owner);
        signature.update(any);
        return signature.verify(signed);
    }
}
