// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Pool;
import io.dra4j.test.ReleasePublisher;
import java.io.IOException;
import java.lang.reflect.Member;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Each profile and option of the driver is published on each release. */
@Tag("slow")
class EveryOptionIT {

    private static final String DRIVER = "fake.example.com";

    private static final List<String> OPTIONS = List.of(
            "--device-profile=gpu --num-devices=200",
            "--device-profile=gpu --gpu-partitions=4",
            "--device-profile=gpu --gpu-partitions=80 --num-devices=2",
            "--device-profile=gpu --gpu-allow-multiple-allocations",
            "--device-profile=gpu --gpu-allow-multiple-allocations --gpu-partitions=4",
            "--device-profile=gpu --gpu-device-status --gpu-device-metadata",
            "--device-profile=gpu --binding-conditions --fabric-devices=2",
            "--device-profile=gpu --fault-file=FAULTS",
            "--device-profile=cpu",
            "--device-profile=cpu --cpu-numa-nodes=2 --cpus-per-numa-node=96",
            "--device-profile=cpu --binding-conditions",
            "--device-profile=net",
            "--device-profile=net --net-device-status --binding-conditions");

    @TempDir
    private Path folder;

    private Path faults;

    @BeforeEach
    void writeFaults() throws IOException {
        faults = Files.writeString(folder.resolve("faults"), """
                gpu-0 NoSchedule hot
                gpu-1 NoExecute broken
                gpu-2 None old
                gpu-3 unhealthy tired
                """);
    }

    private DeviceProvider provider(String words) {
        FakeDriverOptions options = new FakeDriverOptions();
        String all = words.replace("FAULTS", faults.toString()) + " --node-name=node-1 --driver-name=" + DRIVER;
        new CommandLine(options).parseArgs(all.split(" "));
        return FakeDriverMain.provider(options);
    }

    @TestFactory
    Stream<DynamicTest> isPublished() throws Exception {
        Map<String, Pool> pools = new LinkedHashMap<>();
        for (String words : OPTIONS) {
            pools.put(words, provider(words).inventory().pools().get(0));
        }
        return ReleasePublisher.tests(DRIVER, pools);
    }

    @Test
    void noOptionIsForgotten() {
        assertThat(new CommandLine(new FakeDriverOptions()).getCommandSpec().options())
                .filteredOn(option -> ((Member) option.userObject()).getDeclaringClass() == FakeDriverOptions.class)
                .filteredOn(option -> !option.hidden())
                .isNotEmpty()
                .allSatisfy(option -> assertThat(String.join(" ", OPTIONS)).contains(option.longestName()));
    }
}
