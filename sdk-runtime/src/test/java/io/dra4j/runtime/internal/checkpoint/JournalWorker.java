// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** A process that holds devices and gives them back, until it is killed. */
final class JournalWorker {

    private static final int DEVICES = 12;
    private static final int CLAIMS = 6;

    private JournalWorker() {}

    /** A process, and what it says: what it begins, and what is done or refused. */
    record Running(String name, Process process, BufferedReader output) {

        static Running start(Path directory, String name) throws IOException {
            List<String> command =
                    new ArrayList<>(
                            new JavaProgram(
                                            directory,
                                            JavaProgram.SHORT_LIVED,
                                            JavaProgram.ownClassPath(),
                                            JournalWorker.class.getName())
                                    .command());
            command.addAll(List.of(directory.toString(), name));
            Process process =
                    new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            return new Running(name, process, process.inputReader());
        }

        boolean owns(String uid) {
            return uid.startsWith(name + "-");
        }
    }

    public static void main(String[] args) {
        Path directory = Path.of(args[0]);
        SplittableRandom random = new SplittableRandom(ProcessHandle.current().pid());
        LockFile locks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
        Journal journal =
                Journal.open(directory.resolve("claims.journal"), "boot-1", locks, Meters.none());
        while (true) {
            String uid = args[1] + "-" + random.nextInt(CLAIMS);
            if (journal.claim(uid).isPresent()) {
                say("begin free " + uid);
                journal.forget(uid);
                say("done free " + uid);
            } else {
                say("begin hold " + uid);
                hold(journal, uid, "gpu-" + random.nextInt(DEVICES));
            }
        }
    }

    private static void hold(Journal journal, String uid, String device) {
        try {
            journal.put(
                    Records.started(uid, device),
                    claims -> {
                        if (claims.all().stream().anyMatch(claim -> holds(claim, device))) {
                            throw new DraException("held");
                        }
                    });
            say("done hold " + uid);
        } catch (DraException e) {
            if (!"held".equals(e.getMessage())) {
                throw e;
            }
            say("refused hold " + uid);
        }
    }

    private static boolean holds(ClaimRecord claim, String device) {
        return claim.devices().get(0).device().value().equals(device);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
