// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import org.jspecify.annotations.Nullable;

/** A place in an object, for messages: formatted only when needed. */
record Where(@Nullable Where parent, String step) {
    static Where top() {
        return new Where(null, "");
    }

    Where field(String name) {
        return new Where(this, (parent == null ? "" : ".") + name);
    }

    Where element(int index) {
        return new Where(this, "[" + index + "]");
    }

    Where key(String key) {
        return new Where(this, "[\"" + key + "\"]");
    }

    ProtobufFormatException fault(String what) {
        return fault(what, null);
    }

    ProtobufFormatException fault(String what, @Nullable Throwable cause) {
        String place = parent == null ? "the object" : toString();
        return new ProtobufFormatException(place + " " + what, true, cause);
    }

    @Override
    public String toString() {
        return parent == null ? step : parent + step;
    }
}
