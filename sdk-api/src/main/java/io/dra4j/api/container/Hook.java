// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A program that the container runtime runs at one point of the container's lifecycle.
 *
 * @param name when it runs
 * @param path the absolute path of the program on the host
 * @param args its arguments; the first is its name, by convention
 * @param env its environment, as {@code NAME=value}
 * @param timeout the time after which it is killed, in whole seconds; {@code null} for no limit
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI, hooks</a>
 */
public record Hook(
        HookName name,
        String path,
        List<String> args,
        List<String> env,
        @Nullable Duration timeout) {

    /** Copies the lists. */
    public Hook {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(path, "path");
        args = List.copyOf(Objects.requireNonNull(args, "args"));
        env = List.copyOf(Objects.requireNonNull(env, "env"));
    }
}
