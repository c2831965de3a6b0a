// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Taints of a provider's devices, by the names of those that have any. */
abstract class TaintsOnBoards extends ProviderOnBoards {

    private static final int MOST_LOOKS = 200;

    static Map<String, List<Taint>> taints(NvidiaDeviceProvider provider) {
        Map<String, List<Taint>> taints = new TreeMap<>();
        for (Device device : provider.inventory().pools().get(0).devices()) {
            if (!device.taints().isEmpty()) {
                taints.put(device.name().value(), List.copyOf(device.taints()));
            }
        }
        return taints;
    }

    /** Waits for taints that a test accepts, and returns the first of them. */
    final Map<String, List<Taint>> awaitTaints(
            NvidiaDeviceProvider provider, Predicate<Map<String, List<Taint>>> accepted) throws InterruptedException {
        Map<String, List<Taint>> taints = taints(provider);
        for (int look = 0; look < MOST_LOOKS && !accepted.test(taints); look++) {
            context.awaitChange();
            taints = taints(provider);
        }
        assertThat(taints).as("the taints after %d changes", MOST_LOOKS).matches(accepted);
        return taints;
    }

    final void awaitTaints(NvidiaDeviceProvider provider, Map<String, List<Taint>> wanted) throws InterruptedException {
        awaitTaints(provider, wanted::equals);
    }

    final Map<String, List<Taint>> awaitTainted(NvidiaDeviceProvider provider, int devices)
            throws InterruptedException {
        return awaitTaints(provider, taints -> taints.size() == devices);
    }
}
