// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.nio.file.Path;
import java.util.List;

/** Contradictions between the journal and the checkpoint of a driver in Go. */
final class JournalAndOther {

    private JournalAndOther() {}

    /**
     * Finds claims that only the other driver knows.
     *
     * @throws NotCheckedException if the file can't be read
     */
    static Result left(Views views) {
        OtherCheckpoint other = views.other().get();
        Path file = views.driver().checkpoint();
        if (!other.damage().isEmpty()) {
            return new Result("", List.of(damaged(views, file, other.damage())));
        }
        List<Finding> findings = other.uids().stream()
                .filter(uid -> !views.isRecorded(uid))
                .map(uid -> left(views, file, uid))
                .toList();
        return Words.result(findings, other.uids().size(), "claim");
    }

    private static Finding damaged(Views views, Path file, String damage) {
        return new Finding(
                "other-checkpoint",
                Severity.WARNING,
                file.toString(),
                damage,
                "a driver in Go that comes back does not start with it, or loses its claims",
                removal(views, file));
    }

    private static Finding left(Views views, Path file, String uid) {
        return new Finding(
                "other-checkpoint",
                Severity.WARNING,
                "claim " + uid,
                "%s lists it as prepared by a driver in Go, and the journal does not have it".formatted(file),
                "this driver can't refuse its devices to others; a driver in Go that comes back"
                        + " takes it for prepared",
                removal(views, file));
    }

    /** Removes the file once no pod has a claim that it alone may list. */
    private static List<String> removal(Views views, Path file) {
        String node = views.driver().node();
        return List.of(
                "kubectl drain %s --ignore-daemonsets --delete-emptydir-data".formatted(node),
                "sudo rm " + file,
                "kubectl uncordon " + node);
    }
}
