// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.gates;

/** The feature gates that NVIDIA's driver knows, by their names. */
public enum NvidiaGate {
    DynamicMIG(Handling.APPLIED, "has the effect of `--dynamic-mig`, which overrides it"),
    NVMLDeviceHealthCheck(Handling.APPLIED, "sets `--health-watch` to always or never, unless that option is given"),
    TimeSlicingSettings(Handling.APPLIED, "allows the sharing strategy `TimeSlicing`"),
    MPSSupport(Handling.APPLIED, "allows the sharing strategy `MPS`"),
    ConsumableShares(Handling.NOT_NEEDED, "`--consumable-shares` needs no gate"),
    PassthroughSupport(Handling.APPLIED, "offers GPUs to virtual machines (vfio)"),
    DeviceMetadata(Handling.NOT_NEEDED, "devices of virtual machines always have metadata files"),
    FabricManagerPartitioning(Handling.APPLIED, "activates the fabric manager's partitions for claims of whole GPUs"),
    DRAListTypeAttributes(
            Handling.APPLIED, "publishes `numaNode` as a list; Kubernetes' gate of this name also has to be on"),
    IMEXDaemonsWithDNSNames(Handling.NOT_NEEDED, Notes.COMPUTE_DOMAINS),
    ComputeDomainCliques(Handling.NOT_NEEDED, Notes.COMPUTE_DOMAINS),
    CrashOnNVLinkFabricErrors(Handling.NOT_NEEDED, Notes.COMPUTE_DOMAINS),
    HostManagedIMEXDaemon(Handling.NOT_NEEDED, Notes.COMPUTE_DOMAINS),
    NodeLocalFabricIPC(Handling.NOT_NEEDED, Notes.COMPUTE_DOMAINS),
    ContextualLogging(Handling.ALWAYS_ON, "log lines have keys and values"),
    LoggingAlphaOptions(Handling.NOT_NEEDED, Notes.LOGGING),
    LoggingBetaOptions(Handling.NOT_NEEDED, Notes.LOGGING),
    AllAlpha(Handling.NOT_SUPPORTED, "all alpha gates: name those that you need"),
    AllBeta(Handling.NOT_NEEDED, "the beta gates are those of compute domains and of logging");

    private final Handling handling;
    private final String note;

    NvidiaGate(Handling handling, String note) {
        this.handling = handling;
        this.note = note;
    }

    Handling handling() {
        return handling;
    }

    String note() {
        return note;
    }

    enum Handling {
        APPLIED("applied"),
        ALWAYS_ON("always on"),
        NOT_NEEDED("not needed"),
        NOT_SUPPORTED("not supported");

        private final String text;

        Handling(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    private static final class Notes {
        private static final String COMPUTE_DOMAINS =
                "compute domains are left to another program, in a release of NVIDIA's chart alongside this driver";
        private static final String LOGGING = "`--logging-format` is always available";
    }
}
