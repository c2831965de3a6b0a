// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

/** The handling of a device whose field the server does not keep. */
enum Loss {
    /** The device could be allocated wrongly without the field, so it is not published. */
    WITHHELD("withheld"),
    /** The device is published without the field. */
    LEFT_OUT("published without it"),
    /** The device is withheld unless the driver accepts that the field is left out. */
    AS_DECLARED("withheld, or published without it where the driver accepts that");

    private final String text;

    Loss(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
