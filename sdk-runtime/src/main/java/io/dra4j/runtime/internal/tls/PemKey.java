// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.tls;

import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a private key in PEM: PKCS#8, and the older forms of RSA (PKCS#1) and EC (SEC 1), which
 * OpenSSL and cert-manager write.
 *
 * <p>The JDK reads PKCS#8 alone. That is a sequence of a version, the algorithm with its parameters
 * and the older form; the public key names the same algorithm, with the same parameters.
 */
final class PemKey {

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
     * @throws PemException if there is none, it is encrypted, or it is of another algorithm
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
