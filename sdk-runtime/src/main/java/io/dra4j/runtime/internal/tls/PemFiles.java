// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A certificate and its key in two PEM files, as secrets of type kubernetes.io/tls have them. */
record PemFiles(Path certificates, Path key) {

    record Content(String certificates, String key) {}

    /** A certificate chain, the server's own certificate first, with its key. */
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
                        "The key in %s does not match the first certificate in %s".formatted(key, certificates));
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

    /**
     * Reads a private key in PEM: PKCS#8, and the older forms of RSA (PKCS#1) and EC (SEC 1), which
     * OpenSSL and cert-manager write.
     *
     * <p>The JDK reads only PKCS#8: a sequence of a version, the algorithm with its parameters
     * and the older form; the public key names the same algorithm, with the same parameters.
     */
    private static final class PemKey {

        private static final Pattern BLOCK = Pattern.compile(
                "-----BEGIN ((?:[A-Z]+ )?)PRIVATE KEY-----(.*?)-----END \\1PRIVATE KEY-----", Pattern.DOTALL);
        private static final byte[] VERSION_0 = {2, 1, 0};
        private static final int SEQUENCE = 0x30;
        private static final int OCTETS = 0x04;
        private static final int LONG_FORM = 0x80;

        private PemKey() {}

        /**
         * Reads the first key of a text.
         *
         * @param file where it is from, for messages
         * @param owner the public key of its certificate
         * @throws PemException if it is missing, encrypted, or of another algorithm
         */
        static PrivateKey of(Path file, String text, PublicKey owner) throws PemException {
            Matcher block = BLOCK.matcher(text);
            if (!block.find()) {
                throw new PemException("No PEM private key in " + file);
            }
            String form = block.group(1).strip();
            if (form.equals("ENCRYPTED") || block.group(2).contains("ENCRYPTED")) {
                throw new PemException(
                        "The key in %s is encrypted; decrypt it, for instance by openssl pkey".formatted(file));
            }
            try {
                byte[] bytes = Base64.getMimeDecoder().decode(block.group(2));
                byte[] pkcs8 = form.isEmpty() ? bytes : wrapped(bytes, owner);
                return KeyFactory.getInstance(owner.getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            } catch (GeneralSecurityException | IllegalArgumentException e) {
                throw new PemException(
                        "Not a private key for a certificate of %s in %s: %s"
                                .formatted(owner.getAlgorithm(), file, e.getMessage()),
                        e);
            }
        }

        private static byte[] wrapped(byte[] older, PublicKey owner) {
            return der(SEQUENCE, VERSION_0, algorithm(owner.getEncoded()), der(OCTETS, older));
        }

        /** Returns the first element of a public key, whose second one is the key. */
        private static byte[] algorithm(byte[] publicKey) {
            int start = headerLength(publicKey, 0);
            int end = start + headerLength(publicKey, start) + contentLength(publicKey, start);
            return Arrays.copyOfRange(publicKey, start, end);
        }

        private static int headerLength(byte[] der, int at) {
            int length = der[at + 1] & 0xff;
            return length < LONG_FORM ? 2 : 2 + length - LONG_FORM;
        }

        private static int contentLength(byte[] der, int at) {
            int length = der[at + 1] & 0xff;
            if (length < LONG_FORM) {
                return length;
            }
            int value = 0;
            for (int i = 0; i < length - LONG_FORM; i++) {
                value = value << 8 | der[at + 2 + i] & 0xff;
            }
            return value;
        }

        private static byte[] der(int tag, byte[]... parts) {
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            for (byte[] part : parts) {
                content.writeBytes(part);
            }
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            whole.write(tag);
            int length = content.size();
            if (length < LONG_FORM) {
                whole.write(length);
            } else {
                whole.writeBytes(new byte[] {(byte) (LONG_FORM | 2), (byte) (length >> 8)});
                whole.write(length); // keys have less than 64 KiB
            }
            whole.writeBytes(content.toByteArray());
            return whole.toByteArray();
        }
    }

    /** Carries the reason why a file can't be used, and the file's name. */
    static final class PemException extends Exception {

        @Serial
        private static final long serialVersionUID = 1L;

        PemException(String message) {
            super(message);
        }

        PemException(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
