// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.rules.Addresses;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reports of devices, in the form of the Kubernetes API. */
final class ReportJson {

    static final JsonMapper MAPPER = JsonMapper.builder()
            .defaultPropertyInclusion(
                    JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(
                    DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS,
                    DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY,
                    DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private ReportJson() {}

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /**
     * Returns a device's status in its canonical form: addresses where all readers agree on them,
     * each address and each condition once. Data that is not JSON becomes a string.
     *
     * @param before the previous status, from which a condition takes the time of its last change
     */
    static ObjectNode status(DeviceStatus status, @Nullable ObjectNode before, Instant now) {
        ObjectNode json = object();
        if (!status.conditions().isEmpty()) {
            ArrayNode conditions = json.putArray("conditions");
            JsonNode old = before == null ? object() : before.path("conditions");
            status.conditions().stream().distinct().forEach(c -> conditions.add(condition(c, old, now)));
        }
        JsonNode data = status.data() == null ? null : jsonOrText(status.data());
        if (data != null && !data.isNull()) {
            json.set("data", data);
        }
        putNetwork(json, status.networkData());
        return json;
    }

    static ObjectNode condition(Condition condition, JsonNode before, Instant now) {
        String changed = now.truncatedTo(ChronoUnit.SECONDS).toString();
        for (JsonNode old : before) {
            if (old.path("type").asText().equals(condition.type())
                    && old.path("status").asText().equals(condition.status().apiName())) {
                changed = old.path("lastTransitionTime").asText(changed);
            }
        }
        return object().put("type", condition.type())
                .put("status", condition.status().apiName())
                .put("reason", condition.reason())
                .put("message", condition.message())
                .put("lastTransitionTime", changed);
    }

    private static JsonNode jsonOrText(String data) {
        JsonNode text = JsonNodeFactory.instance.textNode(data);
        try {
            JsonNode json = data(data);
            return json.isMissingNode() ? text : json;
        } catch (IllegalArgumentException e) {
            return text;
        }
    }

    private static JsonNode data(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is not JSON", e);
        }
    }

    /**
     * Reads a claim, without what may be JSON of any form.
     *
     * @throws IllegalArgumentException if it is not JSON
     */
    static JsonNode claim(String json) {
        return data(ClaimCodec.known(json));
    }

    /** Returns how pods name a claim that was created from a template; null for another claim. */
    static @Nullable String podClaimName(String claimJson) {
        String name = claim(claimJson)
                .path("metadata")
                .path("annotations")
                .path("resource.kubernetes.io/pod-claim-name")
                .asText();
        return name.isEmpty() ? null : name;
    }

    /** Returns whether a claim's status has entries of a driver. */
    static boolean hasEntries(String claimJson, String driver) {
        return claim(claimJson).at("/status/devices").findValuesAsText("driver").contains(driver);
    }

    /** Returns what containers read about a device. */
    static ObjectNode metadata(DeviceMetadata metadata) {
        ObjectNode json = object();
        if (!metadata.attributes().isEmpty()) {
            ObjectNode attributes = json.putObject("attributes");
            new TreeMap<>(metadata.attributes()).forEach((name, value) -> attributes.set(name, attribute(value)));
        }
        putNetwork(json, metadata.networkData());
        return json;
    }

    /** Each type of value is a record of one component, and an object of one field. */
    private static ObjectNode attribute(AttributeValue value) {
        JsonNode component = MAPPER.valueToTree(value).elements().next();
        return object().set(SliceCodec.typeOf(value), component);
    }

    /** Starts an entry of {@code status.devices}. */
    static ObjectNode entry(String driver, String pool, String device, @Nullable String shareId) {
        ObjectNode entry = object().put("driver", driver).put("pool", pool).put("device", device);
        return shareId == null ? entry : entry.put("shareID", shareId);
    }

    private static void putNetwork(ObjectNode json, @Nullable NetworkData network) {
        if (network == null) {
            return;
        }
        ObjectNode data = json.putObject("networkData");
        if (network.interfaceName() != null) {
            data.put("interfaceName", network.interfaceName());
        }
        if (!network.ips().isEmpty()) {
            network.ips().stream()
                    .map(ip -> Addresses.unambiguous(ip).orElse(ip))
                    .distinct()
                    .forEach(data.putArray("ips")::add);
        }
        if (network.hardwareAddress() != null) {
            data.put("hardwareAddress", network.hardwareAddress());
        }
    }
}
