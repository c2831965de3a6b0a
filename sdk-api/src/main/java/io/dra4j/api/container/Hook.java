// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A program that the container runtime runs at one moment of the container's lifecycle.
 *
 * @param moment when it runs
 * @param path the absolute path of the program on the host
 * @param args its arguments; the first is its name, by convention
 * @param env its environment, as {@code NAME=value}
 * @param timeout after which it is ended, in whole seconds; {@code null} for no limit
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI,
 *     hooks</a>
 */
public record Hook(
        Moment moment,
        String path,
        List<String> args,
        List<String> env,
        @Nullable Duration timeout) {

    /** Copies the lists. */
    public Hook {
        args = List.copyOf(args);
        env = List.copyOf(env);
    }

    /** The moments at which hooks run, of the OCI runtime specification. */
    public enum Moment {
        /** Before the user's process starts; deprecated by OCI in favour of the next three. */
        PRESTART("prestart"),
        /** In the runtime's namespace, after the environment was made and before the pivot. */
        CREATE_RUNTIME("createRuntime"),
        /** In the container's namespace, before the pivot. */
        CREATE_CONTAINER("createContainer"),
        /** In the container's namespace, just before the user's process. */
        START_CONTAINER("startContainer"),
        /** In the runtime's namespace, after the user's process was started. */
        POSTSTART("poststart"),
        /** In the runtime's namespace, after the container was deleted. */
        POSTSTOP("poststop");

        private final String cdiName;

        Moment(String cdiName) {
            this.cdiName = cdiName;
        }

        /**
         * Returns the moment's name in CDI specs.
         *
         * @return the name, for instance {@code createContainer}
         */
        public String cdiName() {
            return cdiName;
        }
    }
}
