// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.pci.PciBus;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Checks that daemons of MPS, which are processes of the driver, see those of pods. */
public record MpsProcesses(Path proc) implements Check {

    private static final Path OF_KERNEL = Path.of("pid:[4026531836]"); // the number of the first one

    /**
     * Returns what keeps daemons from identifying their clients; empty if nothing known does. If the node itself runs in
     * a container, its first process has another mount namespace than a pod with hostPID.
     */
    public Optional<String> problem() {
        Optional<Path> first = PciBus.link(proc.resolve("1/ns/mnt"));
        boolean isPods = !PciBus.link(proc.resolve("self/ns/pid")).equals(Optional.of(OF_KERNEL))
                && first.isPresent()
                && first.equals(PciBus.link(proc.resolve("self/ns/mnt")));
        return isPods
                ? Optional.of(
                        "The driver sees only the processes of its own container, but MPS daemons know the processes of pods by their PIDs: give the driver's pod hostPID: true, or turn the feature gate MPSSupport off")
                : Optional.empty();
    }

    @Override
    public String id() {
        return "mps-processes";
    }

    @Override
    public CheckResult look() {
        String effect = "programs in pods may not get a GPU through MPS, although their claims are prepared";
        List<String> next = List.of("kubectl --namespace NAMESPACE get daemonset --output yaml | grep hostPID");
        return problem()
                .map(it -> CheckResult.found(new Finding(id(), Severity.ERROR, "MPSSupport", it, effect, next)))
                .orElseGet(() -> CheckResult.healthy("daemons of MPS see the processes of pods"));
    }
}
