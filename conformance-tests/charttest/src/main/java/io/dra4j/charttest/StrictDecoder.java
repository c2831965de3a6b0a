// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decodes objects by the API's types, as an API server that validates fields strictly: an unknown field, or a number
 * instead of a string, is an error.
 */
public final class StrictDecoder {

    private static final KubernetesSerialization TYPES = new KubernetesSerialization();
    private static final ObjectMapper MAPPER = mapper();

    private StrictDecoder() {}

    /** Returns a message for each object that can't be decoded. */
    public static List<String> problems(Manifests manifests) {
        return manifests.objects().stream()
                .map(StrictDecoder::problem)
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<String> problem(JsonNode object) {
        String kind = object.path("kind").asText();
        String version = object.path("apiVersion").asText();
        Optional<Class<?>> type = type(version, kind);
        if (type.isEmpty()) {
            return Optional.of("No type is known for " + version + " " + kind);
        }
        try {
            MAPPER.treeToValue(object, type.get());
            return Optional.empty();
        } catch (JsonProcessingException e) {
            String name = object.at("/metadata/name").asText();
            return Optional.of(kind + " " + name + ": " + e.getOriginalMessage());
        }
    }

    /** Returns whether objects of this kind are namespaced; false for an unknown kind. */
    static boolean isNamespaced(JsonNode object) {
        return type(object.path("apiVersion").asText(), object.path("kind").asText())
                .filter(Namespaced.class::isAssignableFrom)
                .isPresent();
    }

    private static Optional<Class<?>> type(String version, String kind) {
        Class<? extends KubernetesResource> type = TYPES.getRegisteredKubernetesResource(version, kind);
        return type == null ? CertManager.type(version, kind) : Optional.of(type);
    }

    private static ObjectMapper mapper() {
        JsonMapper.Builder builder = JsonMapper.builder()
                .annotationIntrospector(new NoOtherFields())
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .withCoercionConfig(LogicalType.Textual, config -> {
                    for (CoercionInputShape shape :
                            List.of(CoercionInputShape.Integer, CoercionInputShape.Float, CoercionInputShape.Boolean)) {
                        config.setCoercion(shape, CoercionAction.Fail);
                    }
                });
        return builder.build();
    }

    /** Hides the methods that accept unknown fields. */
    private static final class NoOtherFields extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1;

        @Override
        public @Nullable Boolean hasAnySetter(Annotated annotated) {
            return annotated.hasAnnotation(com.fasterxml.jackson.annotation.JsonAnySetter.class)
                    ? Boolean.FALSE
                    : super.hasAnySetter(annotated);
        }
    }

    /**
     * The objects of {@code cert-manager.io/v1} with the fields that charts use, because fabric8's model of them is not
     * in Maven Central for this release.
     */
    private static final class CertManager {

        private static final Map<String, Class<?>> TYPES =
                Map.of("Issuer", Issuer.class, "Certificate", Certificate.class);

        private CertManager() {}

        static Optional<Class<?>> type(String version, String kind) {
            return version.equals("cert-manager.io/v1") ? Optional.ofNullable(TYPES.get(kind)) : Optional.empty();
        }

        record Issuer(String apiVersion, String kind, ObjectMeta metadata, IssuerSpec spec) implements Namespaced {}

        record IssuerSpec(Map<String, String> selfSigned, Authority ca) {}

        record Authority(String secretName) {}

        record Certificate(String apiVersion, String kind, ObjectMeta metadata, CertificateSpec spec)
                implements Namespaced {}

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

        /** The usages of a server's certificate. */
        enum Usage {
            @JsonProperty("digital signature")
            DIGITAL_SIGNATURE,
            @JsonProperty("key encipherment")
            KEY_ENCIPHERMENT,
            @JsonProperty("server auth")
            SERVER_AUTH
        }
    }
}
