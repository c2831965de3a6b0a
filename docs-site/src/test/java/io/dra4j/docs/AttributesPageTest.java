// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of attributes has exactly those that devices have, with their types. */
class AttributesPageTest {

    private static final Pattern ROW = Pattern.compile("^\\| `([^`]+)` \\| (\\w+) \\| \\S", 8);

    @TempDir
    private Path folder;

    /** The rows of a section, {@code name type} each. */
    private static Set<String> rows(String heading) {
        String page = Pages.text(Pages.ROOT.resolve("reference/attributes.md"));
        String section =
                page.split("\n## " + Pattern.quote(heading) + "\n", -1)[1].split("\n## ")[0];
        Set<String> rows = new TreeSet<>();
        for (MatchResult row : ROW.matcher(section).results().toList()) {
            rows.add(row.group(1) + " " + row.group(2));
        }
        return rows;
    }

    private static Set<String> ofDevices(List<Device> devices) {
        Set<String> names = new TreeSet<>();
        for (Device device : devices) {
            device.attributes().forEach((name, value) -> names.add(name + " " + type(value)));
            device.capacities().keySet().forEach(name -> names.add(name + " capacity"));
        }
        return names;
    }

    private static String type(AttributeValue value) {
        return value.getClass().getSimpleName().replace("Of", "").toLowerCase(java.util.Locale.ROOT);
    }

    @Test
    void namesThoseOfGpus() {
        List<Device> gpus = new ArrayList<>();
        for (String boards : List.of("h100-80", "h100-linked", "nvlink", "t4", "mixed", "l40s")) {
            gpus.addAll(isOfType("gpu", Devices.ofBoards(folder, boards, false)));
        }

        assertThat(rows("NVIDIA GPUs")).isEqualTo(ofDevices(gpus));
    }

    @Test
    void namesThoseOfMigDevices() {
        List<Device> existing = isOfType("mig", Devices.ofBoards(folder, "a100-40-divided", false));
        List<Device> possible = isOfType("mig", Devices.ofBoards(folder, "h100-linked", true));
        Set<String> names =
                ofDevices(Stream.concat(existing.stream(), possible.stream()).toList());
        names.removeIf(name -> name.matches("memorySlice[1-7] capacity"));
        Set<String> ofTheirGpu = rows("NVIDIA GPUs");
        names.removeIf(name -> ofTheirGpu.contains(name) && !rows("MIG devices").contains(name));

        assertThat(existing).isNotEmpty();
        assertThat(possible).isNotEmpty();
        assertThat(rows("MIG devices")).isEqualTo(names);
        assertThat(ofDevices(possible)).doesNotContain("uuid string", "memorySlice0 capacity");
    }

    @Test
    void namesThoseOfGpusForVirtualMachines() throws Exception {
        List<Device> machines = isOfType("vfio", Devices.ofMachines(folder, "l40s"));

        assertThat(machines).hasSize(4);
        assertThat(rows("NVIDIA GPUs for virtual machines")).isEqualTo(ofDevices(machines));
    }

    private static List<Device> isOfType(String type, List<Device> devices) {
        return devices.stream()
                .filter(each -> AttributeValue.of(type).equals(each.attributes().get("type")))
                .toList();
    }

    @Test
    void namesThoseOfFakeDevices() throws Exception {
        List<Device> gpus = new ArrayList<>(Devices.fakeDevices());
        gpus.addAll(Devices.fakeDevices("--gpu-partitions=4"));

        assertThat(rows("Fake GPUs")).isEqualTo(ofDevices(gpus));
        assertThat(rows("Fake NICs"))
                .isEqualTo(ofDevices(Devices.fakeDevices("--device-profile=net", "--driver-name=net.example.com")));
        assertThat(rows("Fake NUMA nodes"))
                .isEqualTo(ofDevices(Devices.fakeDevices("--device-profile=cpu", "--driver-name=cpu.example.com")));
    }
}
