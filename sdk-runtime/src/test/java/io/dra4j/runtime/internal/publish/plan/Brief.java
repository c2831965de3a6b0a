// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.List;

/** Slices as a failure shows them: generation, count of slices, of devices and of counter sets. */
public final class Brief {

    private Brief() {}

    public static List<String> of(List<Stored> slices) {
        return slices.stream().map(Brief::of).toList();
    }

    public static String of(SliceWrite write) {
        if (write instanceof SliceWrite.Delete delete) {
            return "delete " + of(delete.slice());
        } else if (write instanceof SliceWrite.Update update) {
            return "update " + of(update.slice()) + " to " + of(update.content());
        } else if (write instanceof SliceWrite.Create create) {
            return "create " + create.index() + " as " + of(create.content());
        }
        throw new IllegalArgumentException("A new kind of write: " + write);
    }

    private static String of(Stored slice) {
        return slice.name() + " (" + of(slice.content()) + ")";
    }

    private static String of(Content content) {
        return String.format(
                "%d/%d/%d/%d",
                content.generation(),
                content.sliceCount(),
                content.devices().size(),
                content.counterSets().size());
    }
}
