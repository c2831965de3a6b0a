// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A program one of whose threads needs more heap than there is, while another one waits. */
final class MemoryEater {

    private MemoryEater() {}

    public static void main(String[] args) throws InterruptedException {
        new Thread(MemoryEater::eat).start();
        new CountDownLatch(1).await();
    }

    private static void eat() {
        List<byte[]> eaten = new ArrayList<>();
        while (true) {
            eaten.add(new byte[100_000]);
        }
    }
}
