// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.PublishedDevice;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The attributes that tell hardware apart, from outside: strings whose value no other device has,
 * such as a uuid, a serial number or a PCI address.
 *
 * @param byDevice the attributes that identify a device, by its pool and name
 */
public record Identities(Map<String, Map<String, String>> byDevice) {

    /** Returns the identities of the devices that are published. */
    public static Identities of(List<PublishedDevice> devices) {
        Map<String, Long> uses = devices.stream()
                .flatMap(device -> strings(device).entrySet().stream())
                .collect(Collectors.groupingBy(Object::toString, Collectors.counting()));
        Map<String, Map<String, String>> byDevice = new HashMap<>();
        for (PublishedDevice device : devices) {
            Map<String, String> own = strings(device);
            own.entrySet().removeIf(attribute -> uses.get(attribute.toString()) > 1);
            own.values().removeIf(value -> value.equals(device.name()));
            byDevice.put(device.toString(), own);
        }
        return new Identities(byDevice);
    }

    private static Map<String, String> strings(PublishedDevice device) {
        Map<String, String> strings = new TreeMap<>();
        for (Map.Entry<String, JsonNode> one : device.json().path("attributes").properties()) {
            JsonNode value = one.getValue().path("string");
            if (value.isTextual()) {
                strings.put(one.getKey(), value.asText());
            }
        }
        return strings;
    }

    /** Returns whether a device has an identity. */
    public boolean has(PublishedDevice device) {
        return !of(device).isEmpty();
    }

    /** Returns what identifies a device. */
    public Map<String, String> of(PublishedDevice device) {
        return byDevice.getOrDefault(device.toString(), Map.of());
    }

    /**
     * Returns what shows that a device's name means the hardware of another name: its attributes as
     * they are published now, or what a container gets.
     *
     * @param now the devices that are published now
     * @param edits the edits of a container that gets the device
     */
    public Optional<String> other(PublishedDevice device, List<PublishedDevice> now, List<String> edits) {
        Optional<String> published = now.stream()
                .filter(one -> one.toString().equals(device.toString()))
                .flatMap(one -> strings(one).entrySet().stream())
                .filter(attribute -> isOfAnother(device, attribute))
                .map(Object::toString)
                .findFirst();
        return published.or(() -> edits.stream()
                .filter(line -> of(device).values().stream().noneMatch(line::contains))
                .filter(line -> hasValueOfAnother(device, line))
                .findFirst());
    }

    private boolean isOfAnother(PublishedDevice device, Map.Entry<String, String> attribute) {
        return byDevice.entrySet().stream()
                .filter(one -> !one.getKey().equals(device.toString()))
                .anyMatch(one -> attribute.getValue().equals(one.getValue().get(attribute.getKey())));
    }

    private boolean hasValueOfAnother(PublishedDevice device, String line) {
        return byDevice.entrySet().stream()
                .filter(one -> !one.getKey().equals(device.toString()))
                .flatMap(one -> one.getValue().values().stream())
                .anyMatch(value -> value.length() > 7 && line.endsWith(value));
    }
}
