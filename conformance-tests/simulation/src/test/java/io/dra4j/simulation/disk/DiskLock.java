// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import io.dra4j.simulation.disk.DiskOperation.Kind;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileLock;

/** A range that a process has locked, until it is released or until the process closes any channel of the file. */
final class DiskLock extends FileLock {

    final DiskChannel channel;

    DiskLock(DiskChannel channel, long position, long size, boolean isShared) {
        super(channel, position, size, isShared);
        this.channel = channel;
    }

    /** Returns true until this is released, or its own channel closed; the kernel may have freed the range before. */
    @Override
    public boolean isValid() {
        return channel.isOpen() && channel.mount.locks.contains(this);
    }

    @Override
    public void release() throws IOException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
        if (isValid()) {
            channel.mount.before(Kind.UNLOCK, channel.path, "", 0);
            channel.mount.locks.remove(this);
            channel.node.locks.remove(this);
        }
    }
}
