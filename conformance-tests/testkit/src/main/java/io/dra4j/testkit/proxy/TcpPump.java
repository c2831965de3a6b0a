// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** One direction of a connection: its thread reads from one end and writes to the other. */
final class TcpPump {

    private static final int CHUNK = 16 * 1024;
    private static final int STEPS_A_SECOND = 20;

    private enum Flow {
        PASS,
        DROP,
        HOLD
    }

    private final Socket from;
    private final Socket to;
    // Guarded by this.
    private Flow flow = Flow.PASS;
    private long rate = Long.MAX_VALUE; // bytes in a second
    private long received;
    private boolean senderEnded;
    private boolean finished; // The receiver got the end.
    private boolean stopped;

    TcpPump(Socket from, Socket to) {
        this.from = from;
        this.to = to;
    }

    static void thread(Runnable task) {
        Thread thread = new Thread(task, "dra4j-tcp-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    /** Passes bytes on until the sender ends; IOException if either end broke before all were passed on. */
    void run() throws IOException {
        byte[] buffer = new byte[CHUNK];
        try {
            while (flow() != Flow.HOLD) {
                int count = from.getInputStream().read(buffer);
                if (count < 0) {
                    break;
                }
                arrived(count);
                pass(buffer, count);
            }
        } catch (IOException e) {
            if (flow() == Flow.PASS) {
                throw e;
            }
        } finally {
            senderEnded();
        }
        if (flow() == Flow.PASS) {
            finish();
        }
    }

    private void pass(byte[] buffer, int count) throws IOException {
        int step = 0;
        for (int passed = 0; passed < count && flow() == Flow.PASS; passed += step) {
            step = Math.min(step(), count - passed);
            to.getOutputStream().write(buffer, passed, step);
            pace(step);
        }
    }

    /** Waits while bytes are held; HOLD if the pump was stopped meanwhile. */
    private synchronized Flow flow() {
        try {
            while (flow == Flow.HOLD && !stopped) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return flow;
    }

    private synchronized int step() {
        return (int) Math.max(1, Math.min(CHUNK, rate / STEPS_A_SECOND));
    }

    private synchronized void arrived(int count) {
        received += count;
        notifyAll();
    }

    private synchronized void pace(int count) {
        long start = System.nanoTime();
        long left = 1;
        try {
            while (left > 0 && !stopped) {
                left = count * TimeUnit.SECONDS.toNanos(1) / rate - (System.nanoTime() - start);
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void senderEnded() {
        senderEnded = true;
        notifyAll();
    }

    /** Tells the receiver that nothing more comes, once. */
    private synchronized void finish() throws IOException {
        if (!finished) {
            finished = true;
            to.shutdownOutput();
        }
    }

    /** Keeps reading and drops everything, including the end. */
    synchronized void drop() {
        flow = Flow.DROP;
        notifyAll();
    }

    /** Reads no more, until {@link #resume}. */
    synchronized void hold() {
        if (flow == Flow.PASS) {
            flow = Flow.HOLD;
        }
    }

    synchronized void resume() {
        if (flow == Flow.HOLD) {
            flow = Flow.PASS;
            notifyAll();
        }
    }

    void halfClose() throws IOException {
        drop();
        finish();
    }

    synchronized void slow(long bytesPerSecond) {
        rate = bytesPerSecond;
        notifyAll();
    }

    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    synchronized long received() {
        return received;
    }

    /** Returns whether both ends have been told that nothing more comes. */
    synchronized boolean isOver() {
        return senderEnded && finished;
    }

    synchronized boolean hasSenderEnded() {
        return senderEnded || stopped;
    }

    /** Waits until the sender has ended; returns whether it has. */
    synchronized boolean awaitSenderEnd(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        for (long left = limit.toNanos(); left > 0 && !hasSenderEnded(); left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return hasSenderEnded();
    }
}
