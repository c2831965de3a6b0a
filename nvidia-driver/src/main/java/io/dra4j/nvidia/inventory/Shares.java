// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The number of claims that may share a device, and what each takes of it, by {@code --consumable-shares}.
 *
 * <p>Only the scheduler separates the shares. Neither the GPU nor the driver prevents a container from using more
 * memory than its share, so each shared device has the attribute {@code shareIsolation} with the value {@code none}.
 *
 * @param memory how much memory a claim takes if it requests no amount
 * @param most how many claims may share a device; 0 for no limit
 */
public record Shares(Memory memory, long most) {

    public static final Shares NONE = new Shares(Memory.ALONE, 0);

    private static final Quantity NOTHING = Quantity.of(0);
    private static final Quantity ONE = Quantity.of(1);
    private static final Quantity STEP = new Quantity("1Mi");
    private static final long MIB = 1L << 20;
    private static final Pattern NUMBER = Pattern.compile("0*[1-9][0-9]{0,17}");

    /** The share of the memory that a claim takes. */
    enum Memory {
        /** All of it: devices are not shared. */
        ALONE,
        /** All of it, unless it requests less. */
        ALL,
        /** Nothing, unless it requests some. */
        NOTHING
    }

    /**
     * Reads the value of the option.
     *
     * @param text {@code disabled} or empty, {@code unlimited}, {@code memory}, or how many claims may share a device
     * @throws IllegalArgumentException if it is not one of these
     */
    public static Shares parse(String text) {
        return switch (text) {
            case "", "disabled" -> NONE;
            case "unlimited" -> new Shares(Memory.NOTHING, 0);
            case "memory" -> new Shares(Memory.ALL, 0);
            default -> new Shares(Memory.NOTHING, number(text));
        };
    }

    private static long number(String text) {
        if (!NUMBER.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "\"%s\" is not one of disabled, unlimited, memory, or a positive number".formatted(text));
        }
        return Long.parseLong(text);
    }

    public boolean areAllowed() {
        return memory != Memory.ALONE;
    }

    Device.Builder applyTo(Device.Builder device, Map<String, Quantity> amounts) {
        Map<String, Capacity> capacities = new LinkedHashMap<>();
        amounts.forEach((name, amount) -> capacities.put(name, capacity(name, amount)));
        if (most > 0) {
            Quantity all = Quantity.of(most);
            // the server refuses a step beyond the capacity
            capacities.put("shares", shared(all, ONE, new ValidRange(ONE, all, most > 1 ? ONE : null)));
        }
        device.capacities(capacities);
        return areAllowed() ? device.allowMultipleAllocations(true).attribute("shareIsolation", "none") : device;
    }

    /** Claims consume only memory: otherwise the first share would take all of the other capacities. */
    private Capacity capacity(String name, Quantity amount) {
        if (!areAllowed() || amount.equals(NOTHING)) {
            return new Capacity(amount, null);
        }
        if (!name.equals("memory")) {
            return shared(amount, NOTHING, new ValidRange(NOTHING, amount, null));
        }
        Quantity whole = Quantity.ofBytes(amount.amount().longValue() / MIB * MIB);
        return memory == Memory.ALL
                ? shared(whole, whole, new ValidRange(STEP, whole, STEP))
                : shared(whole, NOTHING, new ValidRange(NOTHING, whole, STEP));
    }

    private static Capacity shared(Quantity amount, Quantity otherwise, ValidRange range) {
        return new Capacity(amount, RequestPolicy.range(otherwise, range));
    }
}
