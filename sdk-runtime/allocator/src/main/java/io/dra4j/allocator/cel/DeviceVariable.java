// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import io.dra4j.allocator.model.AttributeValue;
import io.dra4j.allocator.model.Device;
import io.dra4j.rules.OwnNames;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The variable through which expressions see a device, created for the first of them.
 *
 * <p>No expression can be evaluated on a device with an attribute that CEL does not support: {@link
 * DeviceSelector#matches} always fails.
 */
public final class DeviceVariable {
    private final String driver;
    private final Device device;
    private final boolean lists;
    private @Nullable Map<String, Object> fields;

    /**
     * Creates the variable of a device.
     *
     * @param driver the driver of the slice, which is the domain of names without one
     * @param lists whether attributes may be lists
     */
    public DeviceVariable(String driver, Device device, boolean lists) {
        this.driver = driver;
        this.device = device;
        this.lists = lists;
    }

    /**
     * Returns the fields by name.
     *
     * @throws IllegalArgumentException if CEL does not support the value of an attribute
     */
    Map<String, Object> fields() {
        if (fields == null) {
            fields = fields(driver, device, lists);
        }
        return fields;
    }

    private static Map<String, Object> fields(String driver, Device device, boolean lists) {
        return Map.of(
                "driver",
                driver,
                "attributes",
                byDomain(driver, device.attributes(), one -> attribute(one, lists)),
                "capacity",
                byDomain(
                        driver,
                        device.capacity(),
                        one -> new CelQuantity(one.value().value())),
                "allowMultipleAllocations",
                device.sharing());
    }

    /** A name without a domain is in the driver's domain; until 1.37 either form may count if both exist. */
    private static <T> Map<String, Map<String, Object>> byDomain(
            String driver, Map<String, T> named, Function<T, Object> value) {
        OwnNames names = new OwnNames(driver);
        Map<String, Map<String, Object>> domains = new HashMap<>();
        for (Map.Entry<String, T> one : named.entrySet()) {
            String name = one.getKey();
            if (!names.counts(named, name)) {
                continue;
            }
            int slash = name.indexOf('/');
            try {
                domains.computeIfAbsent(slash < 0 ? driver : name.substring(0, slash), key -> new HashMap<>())
                        .put(name.substring(slash + 1), value.apply(one.getValue()));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("attribute " + name + ": " + e.getMessage(), e);
            }
        }
        return domains;
    }

    private static Object attribute(AttributeValue attribute, boolean lists) {
        if (attribute.type() == AttributeValue.Type.UNKNOWN || (attribute.list() && !lists)) {
            throw new IllegalArgumentException("unsupported attribute value");
        }
        if (attribute.list()) {
            return attribute.values().stream()
                    .map(one -> scalar(attribute, one))
                    .toList();
        }
        return scalar(attribute, attribute.values().get(0));
    }

    private static Object scalar(AttributeValue attribute, Object value) {
        return attribute.type() == AttributeValue.Type.VERSION ? SemanticVersion.parse((String) value) : value;
    }
}
