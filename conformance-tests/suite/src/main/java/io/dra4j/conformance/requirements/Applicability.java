// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ResourceBundle;

/** A condition for a requirement to be applicable: of the driver or of the settings. */
public enum Applicability {
    PROC("proc"),
    API("api"),
    CDI("cdi"),
    DEV1("dev1"),
    DEV2("dev2"),
    CFG_OK("cfgOK"),
    CFG_BAD("cfgBad"),
    CFG_SEE("cfgSee"),
    ROLL("roll"),
    PLUG("plug"),
    FAULT("fault"),
    HC("hc"),
    NOT_HC("not hc"),
    MULTI("multi"),
    ADM("adm"),
    CTR("ctr"),
    TAINT("taint"),
    BIND("bind"),
    DST("dst"),
    META("meta"),
    METRICS("metrics"),
    FS("fs"),
    STATE("state"),
    OLD("old"),
    BOTH("both");

    /** The clause where a gate holds, and the reason where it does not, by its label. */
    private static final ResourceBundle WORDS = ResourceBundle.getBundle("io.dra4j.conformance.requirements.gates");

    private final String label;

    Applicability(String label) {
        this.label = label;
    }

    /**
     * Returns whether it is about the suite's own permissions and means, and not about the driver. Where such a gate is
     * closed, a requirement is untested, because the driver may well have what it is about. What the vendor declares
     * about the driver, such as its configurations and the place of its state, is not such a means: a driver may have
     * none.
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
        return WORDS.getString(label).split(" \\| ")[0];
    }

    /** Returns the reason if it is closed, for example "the driver publishes no device". */
    public String otherwise() {
        return WORDS.getString(label).split(" \\| ")[1];
    }
}
