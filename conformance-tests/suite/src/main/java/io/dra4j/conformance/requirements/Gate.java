// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

import com.fasterxml.jackson.annotation.JsonValue;

/** A condition for a requirement to be applicable: of the driver, or of the setting. */
public enum Gate {
    PROC("proc", "the suite may start, stop and kill the driver", "the suite may not start, stop and kill the driver"),
    API(
            "api",
            "the driver talks to the API server through the suite's proxy",
            "the driver does not talk to the API server through the suite's proxy"),
    CDI("cdi", "the driver answers with CDI device ids", "the driver answers without CDI device ids"),
    DEV1("dev1", "the driver publishes a device", "the driver publishes no device"),
    DEV2("dev2", "the driver publishes two devices or more", "the driver publishes fewer than two devices"),
    CFG_OK(
            "cfgOK",
            "the settings have a valid opaque config",
            "the settings have no valid opaque config (driver.configs.valid)"),
    CFG_BAD(
            "cfgBad",
            "the settings have an invalid opaque config",
            "the settings have no invalid opaque config (driver.configs.invalid)"),
    CFG_SEE(
            "cfgSee",
            "the settings name the effect of a config on the CDI edits",
            "the settings do not name the effects of two configs on the CDI edits (driver.configs.valid)"),
    ROLL(
            "roll",
            "two instances of the driver may run on one node",
            "the settings do not declare that two instances of the driver may run on one node (driver.seamlessUpgrade)"),
    PLUG(
            "plug",
            "a hook plugs and unplugs devices",
            "no hook plugs and unplugs devices (driver.hooks.plug and unplug)"),
    FAULT(
            "fault",
            "a hook breaks and repairs a device",
            "no hook breaks and repairs a device (driver.hooks.fault and recover)"),
    HC("hc", "the driver has the health service", "the driver does not declare the health service"),
    NOT_HC(
            "not hc",
            "the driver does not declare the health service",
            "the driver declares the health service; this is for those that do not"),
    MULTI(
            "multi",
            "the driver publishes devices that allow multiple allocations",
            "the driver publishes no devices that allow multiple allocations"),
    ADM(
            "adm",
            "the driver supports admin access",
            "the settings do not declare admin access (adm), which cannot be detected"),
    CTR("ctr", "the driver publishes shared counters", "the driver publishes no shared counters"),
    TAINT(
            "taint",
            "the driver publishes taints, or the settings have the hook fault",
            "the driver publishes no taints, the settings do not declare them (taint), and no hook breaks a device"),
    BIND("bind", "the driver publishes binding conditions", "the driver publishes no binding conditions"),
    DST(
            "dst",
            "the driver writes the status of its devices into claims",
            "the driver wrote no device status for its first claim, and the settings do not declare it (dst)"),
    META(
            "meta",
            "the driver writes device metadata files",
            "the driver wrote no device metadata for its first claim, and the settings do not declare it (meta)"),
    METRICS(
            "metrics",
            "the settings name the address of the driver's metrics",
            "the settings do not name the address of the driver's metrics (driver.metrics)"),
    FS(
            "fs",
            "the suite may break file systems: it needs root or a mount namespace",
            "the suite may not break file systems here"),
    STATE(
            "state",
            "the settings name the state files of the driver",
            "the settings do not name the state files of the driver (driver.stateFiles)"),
    OLD(
            "old",
            "the settings name an older release of the driver",
            "the settings name no older release of the driver (driver.hooks.old)"),
    BOTH("both", "the driver serves both v1 and v1beta1", "the driver does not serve both v1 and v1beta1");

    private final String label;
    private final String words;
    private final String otherwise;

    Gate(String label, String words, String otherwise) {
        this.label = label;
        this.words = words;
        this.otherwise = otherwise;
    }

    /**
     * Returns whether it is about what the suite may do and was given, and not about the driver. Where such a gate is
     * closed, a requirement is untested: that the driver does not have what it is about is not known. What the vendor
     * declares of the driver, as its configurations and where its state is, is no such means: a driver may have none.
     */
    public boolean isMeans() {
        return switch (this) {
            case PROC, API, PLUG, FAULT, FS -> true;
            default -> false;
        };
    }

    /** The short name that the catalogue writes, for example {@code cfgOK}. */
    @JsonValue
    public String label() {
        return label;
    }

    /** The condition as a clause, for example "the driver publishes a device". */
    public String words() {
        return words;
    }

    /** Returns the reason if it is closed, for example "the driver publishes no device". */
    public String otherwise() {
        return otherwise;
    }
}
