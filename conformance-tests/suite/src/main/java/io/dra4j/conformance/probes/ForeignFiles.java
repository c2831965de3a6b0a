// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.driver.Place;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sockets and files without an owner in the directories that a driver shares with others. */
public final class ForeignFiles implements AutoCloseable {

    private final Map<Path, String> planted = new LinkedHashMap<>();
    private final List<ServerSocketChannel> open = new ArrayList<>();

    private ForeignFiles() {}

    public static ForeignFiles plant(Place place) throws IOException {
        ForeignFiles foreign = new ForeignFiles();
        boolean done = false;
        try {
            for (Path folder : List.of(place.registry(), place.plugins(), place.cdi())) {
                foreign.plant(folder);
            }
            done = true;
            return foreign;
        } finally {
            if (!done) {
                foreign.close();
            }
        }
    }

    private void plant(Path folder) throws IOException {
        Path live = folder.resolve("live." + Absent.DRIVER + ".sock");
        open.add(bound(live));
        planted.put(live, identity(live));
        Path dead = folder.resolve("dead." + Absent.DRIVER + ".sock");
        bound(dead).close();
        planted.put(dead, identity(dead));
        Path file = folder.resolve("file." + Absent.DRIVER + ".txt");
        Files.writeString(file, "This file belongs to the conformance suite alone.\n");
        planted.put(file, identity(file));
    }

    private static ServerSocketChannel bound(Path socket) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(socket));
        return channel;
    }

    private static String identity(Path file) throws IOException {
        Map<String, Object> stat =
                Files.readAttributes(file, "unix:ino,mode,size,lastModifiedTime", LinkOption.NOFOLLOW_LINKS);
        return stat.get("ino") + " " + stat.get("mode") + " " + stat.get("size") + " " + stat.get("lastModifiedTime");
    }

    /** Fails if the driver has touched one. */
    public void live(String after) {
        planted.forEach((file, identity) -> {
            String now;
            try {
                now = identity(file);
            } catch (IOException e) {
                throw new Violation("after %s, %s is gone, which is not the driver's", after, file);
            }
            Violation.unless(now.equals(identity))
                    .because("after %s, %s was changed, which is not the driver's", after, file);
        });
    }

    @Override
    public void close() throws IOException {
        for (ServerSocketChannel channel : open) {
            channel.close();
        }
        for (Path file : planted.keySet()) {
            Files.deleteIfExists(file);
        }
    }
}
