// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.inside;

import io.dra4j.runtime.internal.driver.DriverSettings;
import io.dra4j.runtime.internal.driver.RunningDriver;
import io.dra4j.simulation.node.Host;
import io.dra4j.simulation.node.Program;
import java.lang.reflect.Field;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The runtime as a program: {@link RunningDriver} with the settings of a simulated node. */
public final class DriverProgram implements Program {

    private static final String RANGES = "io.dra4j.runtime.internal.checkpoint.LockRanges";

    private @Nullable RunningDriver running;

    @Override
    public void start() {
        Host host = Replaced.host();
        DriverSettings settings = new DriverSettings(host.driverName(), host.nodeName());
        settings.clock = Clock.systemUTC();
        settings.cdiRoot = host.path("/var/run/cdi");
        settings.pluginsDirectory = host.path("/var/lib/kubelet/plugins");
        settings.registrarDirectory = host.path("/var/lib/kubelet/plugins_registry");
        settings.procRoot = host.path("/proc");
        settings.podUid = host.podUid();
        settings.serialized = host.isSerialized();
        settings.metadataVersions = List.of("v1beta1");
        running = new RunningDriver(settings, host.provider());
    }

    @Override
    public void stop() {
        if (running != null) {
            running.close();
        }
    }

    @Override
    public void forget(FileSystem mounted) {
        try {
            Class<?> ranges = Class.forName(RANGES, true, DriverProgram.class.getClassLoader());
            Field open = ranges.getDeclaredField("OPEN");
            open.setAccessible(true);
            ((Map<?, ?>) open.get(null)).keySet().removeIf(path -> ((Path) path).getFileSystem() == mounted);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(RANGES, e);
        }
    }
}
