// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.fabric;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.PciAddress;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The partitions that the fabric manager supports on a node. */
public record Partitions(List<Partition> all) {

    /** GPUs that NVSwitches connect with each other, and with no other GPUs, while the partition is active. */
    public record Partition(int id, boolean isActive, List<Member> members) {

        public Set<Integer> gpus() {
            return members.stream().map(Member::number).collect(Collectors.toCollection(TreeSet::new));
        }

        /** Returns the text for messages. */
        @Override
        public String toString() {
            return "%d (GPU modules %s)".formatted(id, gpus());
        }
    }

    /**
     * A GPU as the fabric manager knows it: since Hopper only by its number.
     *
     * @param number its number; the number of its module if nothing else identifies it
     * @param uuid its UUID; may be empty
     * @param pci its PCI address; may be empty
     */
    record Member(int number, String uuid, String pci) {

        boolean isIdentified() {
            return !uuid.isEmpty() || !pci.isEmpty();
        }

        /** At least one identifier has to match, and none that both sides know may differ. */
        boolean is(PciAddress address, @Nullable Gpu gpu) {
            boolean hasUuid = gpu != null && gpu.uuid().equals(uuid);
            return pci.equals(address.text()) ? hasUuid || uuid.isEmpty() || gpu == null : hasUuid && pci.isEmpty();
        }
    }

    /**
     * Returns the number by which the fabric manager knows a GPU.
     *
     * <p>It is the number of its module only if the fabric manager identifies no GPU in another way: the two differ on
     * HGX A100.
     *
     * @param gpu the GPU as NVML reported it; null if NVML has not seen it since the boot
     */
    public OptionalInt number(PciAddress pci, @Nullable Gpu gpu) {
        List<Member> members = all.stream().flatMap(it -> it.members.stream()).toList();
        Integer module = gpu == null ? null : gpu.moduleId();
        boolean byModule = members.stream().noneMatch(Member::isIdentified);
        int[] found = members.stream()
                .filter(it -> byModule ? Integer.valueOf(it.number).equals(module) : it.is(pci, gpu))
                .mapToInt(Member::number)
                .distinct()
                .toArray();
        return found.length == 1 ? OptionalInt.of(found[0]) : OptionalInt.empty();
    }

    public Optional<Partition> exactly(Set<Integer> gpus) {
        return all.stream().filter(it -> it.gpus().equals(gpus)).findFirst();
    }

    public List<Partition> withAnyOf(Set<Integer> gpus) {
        return all.stream().filter(it -> !Collections.disjoint(it.gpus(), gpus)).toList();
    }

    /** Returns the attributes of a GPU, such as {@code partition4}; none for sizes with several partitions. */
    public Map<String, Integer> attributes(PciAddress pci, @Nullable Gpu gpu) {
        Map<String, Integer> found = new HashMap<>();
        Set<Integer> gpus = number(pci, gpu).stream().boxed().collect(Collectors.toSet());
        withAnyOf(gpus).forEach(it -> found.merge("partition" + it.members.size(), it.id, (one, other) -> -1));
        found.values().removeIf(id -> id < 0);
        return found;
    }
}
