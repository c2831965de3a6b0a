// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the stacks of all threads to a file when SIGUSR2 arrives, as drivers in Go do; to standard
 * error if the file can't be written.
 */
final class ThreadDump {

    /** The name that NVIDIA's driver gives it, for scripts that collect it. */
    static final String FILE = "goroutine-stacks.dump";

    private static final Logger LOG = LoggerFactory.getLogger(ThreadDump.class);

    private ThreadDump() {}

    /** Waits for the signal, as long as the JVM runs. */
    static void onSignal(Path file, PrintStream otherwise) {
        try {
            // By reflection: no comment and no annotation lets javac pass over a class of the JDK's own.
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object write = Proxy.newProxyInstance(
                    ThreadDump.class.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
                        write(file, otherwise);
                        return null;
                    });
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance("USR2"), write);
        } catch (ReflectiveOperationException e) {
            LOG.atDebug().setCause(e).log("SIGUSR2 writes no thread dump here; SIGQUIT does, to standard output");
        }
    }

    private static void write(Path file, PrintStream otherwise) {
        StringBuilder stacks = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            stacks.append(thread).append(' ').append(thread.getState()).append('\n');
            Stream.of(frames)
                    .forEach(frame -> stacks.append("\tat ").append(frame).append('\n'));
        });
        try {
            Files.writeString(file, stacks);
            LOG.atInfo().log("Wrote the stacks of all threads to {}", file);
        } catch (IOException e) {
            LOG.atError().setCause(e).log("Can't write {}; the stacks of all threads follow", file);
            otherwise.println(stacks);
        }
    }
}
