// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** The order of a GPU's MIG devices, of which a claim gets the first that fits. */
class PackingTest {

    @TempDir
    private Path folder;

    private Pool pool(String board) {
        return Boards.dividable(folder, board).inventory().pools().get(0);
    }

    @ParameterizedTest
    @CsvFileSource(resources = "/io/dra4j/nvidia/mig-order.txt", delimiter = ':')
    void devicesAreInTheOrderThatPacksWell(String board, String order) {
        List<String> names = Stream.of(order.strip().split("; "))
                .map(profile -> profile.split(" "))
                .flatMap(parts -> parts.length == 1
                        ? Stream.of("gpu-0")
                        : Stream.of(parts).skip(1).map(place -> "gpu-0-mig-" + parts[0] + "-" + place))
                .toList();

        assertThat(pool(board).devices())
                .extracting(device -> device.name().value())
                .isEqualTo(names);
    }

    /** In the last row, four compute slices go to a claim that the order of names refuses, and are missed by the next. */
    @ParameterizedTest
    @CsvSource({
        "h100-80,  3g.40gb 4g.40gb,                         2, 1",
        "h200-141, 3g.71gb 4g.71gb,                         2, 1",
        "a100-40,  3g.20gb 4g.20gb,                         2, 1",
        "h100-80,  1g.20gb 4g.40gb 1g.20gb,                 3, 2",
        "h100-80,  3g.40gb 4g.40gb 1g.10gb 1g.10gb 1g.10gb, 2, 4"
    })
    void moreClaimsAreAcceptedThanInTheOrderOfNames(String board, String claims, int accepted, int byName) {
        Pool pool = pool(board);
        List<Device> sorted = pool.devices().stream()
                .sorted(Comparator.comparing(device -> device.name().value()))
                .toList();

        assertThat(accepted(pool, pool.devices(), claims)).isEqualTo(accepted);
        assertThat(accepted(pool, sorted, claims)).isEqualTo(byName);
    }

    private static int accepted(Pool pool, List<Device> devices, String claims) {
        Map<String, Long> free = amounts(pool.counterSets().get(0).counters());
        int accepted = 0;
        for (String profile : claims.split(" ")) {
            Optional<Device> first = devices.stream()
                    .filter(device -> AttributeValue.of(profile)
                            .equals(device.attributes().get("profile")))
                    .filter(device -> takes(device).entrySet().stream()
                            .allMatch(taken -> free.get(taken.getKey()) >= taken.getValue()))
                    .findFirst();
            first.ifPresent(
                    device -> takes(device).forEach((counter, amount) -> free.merge(counter, -amount, Long::sum)));
            accepted += first.isPresent() ? 1 : 0;
        }
        return accepted;
    }

    private static Map<String, Long> takes(Device device) {
        return amounts(device.consumesCounters().get(0).counters());
    }

    private static Map<String, Long> amounts(Map<String, Quantity> counters) {
        Map<String, Long> amounts = new HashMap<>();
        counters.forEach((name, amount) -> amounts.put(name, amount.amount().longValueExact()));
        return amounts;
    }
}
