// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The objects of {@code cert-manager.io/v1} with the fields that charts use, as fabric8's model of
 * them is not in Maven Central for this release.
 */
final class CertManager {

    private static final Map<String, Class<?>> TYPES = Map.of("Issuer", Issuer.class, "Certificate", Certificate.class);

    private CertManager() {}

    static Optional<Class<?>> type(String version, String kind) {
        return version.equals("cert-manager.io/v1") ? Optional.ofNullable(TYPES.get(kind)) : Optional.empty();
    }

    record Issuer(String apiVersion, String kind, ObjectMeta metadata, IssuerSpec spec) {}

    record IssuerSpec(Map<String, String> selfSigned, Authority ca) {}

    record Authority(String secretName) {}

    record Certificate(String apiVersion, String kind, ObjectMeta metadata, CertificateSpec spec) {}

    record CertificateSpec(
            boolean isCA,
            String commonName,
            List<String> dnsNames,
            String secretName,
            String duration,
            List<Usage> usages,
            PrivateKey privateKey,
            IssuerRef issuerRef) {}

    record PrivateKey(RotationPolicy rotationPolicy) {}

    record IssuerRef(String group, String kind, String name) {}

    enum RotationPolicy {
        Always,
        Never
    }

    /** Those usages that a server's certificate has. */
    enum Usage {
        @JsonProperty("digital signature")
        DIGITAL_SIGNATURE,
        @JsonProperty("key encipherment")
        KEY_ENCIPHERMENT,
        @JsonProperty("server auth")
        SERVER_AUTH
    }
}
