// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import io.dra4j.nvidia.standin.Layouts.Layout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The hardware of a stand-in node, independent of the driver. */
public final class NodeState {

    private static final int MAGIC = 0x4c4d564e;
    private static final int MOST_INSTANCES = 8;
    private static final int MOST_FAULTS = 16;
    private static final int XID = 0x8;

    private static final Layouts LAYOUTS = Layouts.read();
    private static final Layout STATE = LAYOUTS.of("state");
    private static final Layout GPU = LAYOUTS.of("gpu");
    private static final Layout PROFILE = LAYOUTS.of("profile");
    private static final Layout INSTANCE = LAYOUTS.of("instance");
    private static final Layout COMPUTE = LAYOUTS.of("compute");
    private static final Layout EVENT = LAYOUTS.of("event");
    private static final Layout FAULT = LAYOUTS.of("fault");
    private static final Layout COUNTER = LAYOUTS.of("counter");
    private static final int MOST_EVENTS =
            (STATE.at("gpu") - STATE.at("event")) / EVENT.size(); // that can wait to be read

    /** Stands for all GPUs in a fault, and for calls without a GPU. */
    public static final int ALL = -1;

    private final MappedByteBuffer bytes;

    private NodeState(MappedByteBuffer bytes) {
        this.bytes = bytes;
    }

    static NodeState map(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer bytes = channel.map(MapMode.READ_WRITE, 0, STATE.size());
            bytes.order(ByteOrder.nativeOrder());
            NodeState state = new NodeState(bytes);
            if (state.number("magic") != MAGIC || state.number("size") != STATE.size()) {
                throw new IllegalStateException(file + " is no state of this stand-in");
            }
            return state;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A GPU instance that is there.
     *
     * @param gpu the position of its GPU
     * @param id its number
     * @param profileId the hardware's number of its profile
     * @param start its first memory slice
     * @param uuids its MIG devices
     */
    public record Instance(int gpu, int id, int profileId, int start, List<String> uuids) {}

    private int number(String field) {
        return bytes.getInt(STATE.at(field));
    }

    private static int gpu(int position) {
        return STATE.at("gpu") + position * GPU.size();
    }

    private static int slot(int gpu, int slot) {
        return gpu(gpu) + GPU.at("instances") + slot * INSTANCE.size();
    }

    /** Returns the number of GPUs. */
    public int gpus() {
        return number("gpus");
    }

    /** All GPU instances of the node. */
    public List<Instance> instances() {
        return List.copyOf(bySerial().values());
    }

    /** Returns the GPU instance whose first memory slice it is. */
    public Instance instanceAt(int gpu, int start) {
        return instances().stream()
                .filter(instance -> instance.gpu() == gpu && instance.start() == start)
                .findFirst()
                .orElseThrow();
    }

    /** Returns the instances by serials: one that is created again differs only in its serial. */
    public Map<Integer, Instance> bySerial() {
        Map<Integer, Instance> found = new TreeMap<>();
        for (int gpu = 0; gpu < gpus(); gpu++) {
            for (int slot = 0; slot < MOST_INSTANCES; slot++) {
                int at = slot(gpu, slot);
                if (bytes.getInt(at + INSTANCE.at("used")) != 0) {
                    found.put(bytes.getInt(at + INSTANCE.at("serial")), described(gpu, at));
                }
            }
        }
        return found;
    }

    private Instance described(int gpu, int at) {
        int profile = bytes.getInt(at + INSTANCE.at("profile"));
        return new Instance(
                gpu,
                bytes.getInt(at + INSTANCE.at("id")),
                bytes.getInt(gpu(gpu) + GPU.at("profile") + profile * PROFILE.size() + PROFILE.at("id")),
                bytes.getInt(at + INSTANCE.at("start")),
                uuids(at));
    }

    private List<String> uuids(int instance) {
        List<String> uuids = new ArrayList<>();
        for (int slot = 0; slot < MOST_INSTANCES; slot++) {
            int at = instance + INSTANCE.at("computes") + slot * COMPUTE.size();
            if (bytes.getInt(at + COMPUTE.at("used")) != 0) {
                uuids.add(text(at + COMPUTE.at("uuid")));
            }
        }
        return uuids;
    }

    private String text(int at) {
        int length = 0;
        while (bytes.get(at + length) != 0) {
            length++;
        }
        byte[] text = new byte[length];
        bytes.get(at, text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** The UUID of a GPU. */
    public String uuid(int gpu) {
        return text(gpu(gpu) + GPU.at("uuid"));
    }

    /** Returns whether a GPU is in MIG mode now. */
    public boolean isMigEnabled(int gpu) {
        return bytes.getInt(gpu(gpu) + GPU.at("migMode")) != 0;
    }

    /** Switches the MIG mode of a GPU, as a reset does. */
    public void setMig(int gpu, boolean enabled) {
        bytes.putInt(gpu(gpu) + GPU.at("migMode"), enabled ? 1 : 0);
        bytes.putInt(gpu(gpu) + GPU.at("migPending"), enabled ? 1 : 0);
    }

    /** Returns the number of steps that have changed the hardware, or were about to. */
    private long steps() {
        return bytes.getLong(STATE.at("steps"));
    }

    /** Lets the process be killed at a step, counted from now; 0 for never. */
    public void killAt(long steps) {
        bytes.putLong(STATE.at("killAt"), steps == 0 ? 0 : steps() + steps);
    }

    /** Lets a step fail, counted from now; 0 for none. */
    public void failAt(long steps) {
        bytes.putLong(STATE.at("failAt"), steps == 0 ? 0 : steps() + steps);
    }

    /** Lets a GPU, or with -1 the driver, return an invalid text. */
    public void scramble(int gpu, byte[] text) {
        int at = gpu < 0 ? STATE.at("driver") : gpu(gpu) + GPU.at(gpu % 2 == 0 ? "uuid" : "busId");
        bytes.put(at, text);
        bytes.put(at + text.length, (byte) 0);
    }

    /** Sets the name of a GPU's product. */
    public void rename(int gpu, byte[] name) {
        bytes.put(gpu(gpu) + GPU.at("name"), name);
        bytes.put(gpu(gpu) + GPU.at("name") + name.length, (byte) 0);
    }

    /** Sets a number of a GPU, and returns the one before. */
    public int set(int gpu, String field, int number) {
        return replace(gpu(gpu) + GPU.at(field), number);
    }

    /** Sets a number of the first profile of a GPU, and returns the one before. */
    public int setOfProfile(int gpu, String field, int number) {
        return replace(gpu(gpu) + GPU.at("profile") + PROFILE.at(field), number);
    }

    private int replace(int at, int number) {
        int before = bytes.getInt(at);
        bytes.putInt(at, number);
        return before;
    }

    /** Returns whether the step that fails has been reached. */
    public boolean hasFailed() {
        long at = bytes.getLong(STATE.at("failAt"));
        return at != 0 && at <= steps();
    }

    /** Lets a GPU fall off the bus, or come back. */
    public void lost(int gpu, boolean lost) {
        bytes.putInt(gpu(gpu) + GPU.at("lost"), lost ? 1 : 0);
    }

    /** Lets a process use the GPU instances of a GPU. */
    public void instancesBusy(int gpu, boolean busy) {
        for (int slot = 0; slot < MOST_INSTANCES; slot++) {
            bytes.putInt(slot(gpu, slot) + INSTANCE.at("busy"), busy ? 1 : 0);
        }
    }

    /** Lets questions about a link of a GPU return a code; 0 for none. */
    public void linkFails(int gpu, int link, int code) {
        bytes.putInt(gpu(gpu) + GPU.at("linkCodes") + link * Integer.BYTES, code);
    }

    /** Lets each switch of MIG mode end the registrations of the GPU's events. */
    public void modeEndsEvents(boolean ends) {
        bytes.putInt(STATE.at("modeEndsEvents"), ends ? 1 : 0);
    }

    /** Lets all calls of a function return a code, on {@link #ALL} GPUs. */
    public void fails(String function, int code) {
        fails(function, ALL, code, -1);
    }

    /**
     * Lets calls of a function return a code, and do nothing else.
     *
     * @param function a name of {@link StandInNode#functions}
     * @param gpu the position of the GPU whose calls fail, or {@link #ALL}
     * @param code an {@code nvmlReturn_t}
     * @param calls the number of calls that fail; -1 for all
     */
    public void fails(String function, int gpu, int code, int calls) {
        byte[] name = function.getBytes(StandardCharsets.US_ASCII);
        int at = fault(0);
        for (int slot = 0; bytes.getInt(at + FAULT.at("calls")) != 0; at = fault(++slot)) {
            if (slot == MOST_FAULTS - 1) {
                throw new IllegalStateException("more than " + MOST_FAULTS + " faults");
            }
        }
        bytes.putInt(at + FAULT.at("code"), code);
        bytes.putInt(at + FAULT.at("gpu"), gpu);
        bytes.put(at + FAULT.at("function"), name);
        bytes.put(at + FAULT.at("function") + name.length, (byte) 0);
        bytes.putInt(at + FAULT.at("calls"), calls);
    }

    private static int fault(int slot) {
        return STATE.at("fault") + slot * FAULT.size();
    }

    /** Returns whether a call has failed by one of the faults, each for a number of calls. */
    public boolean hasFailed(int calls) {
        for (int slot = 0; slot < MOST_FAULTS; slot++) {
            int left = bytes.getInt(fault(slot) + FAULT.at("calls"));
            if (left > 0 && left < calls) {
                return true;
            }
        }
        return false;
    }

    /** Ends all faults of functions. */
    public void noneFails() {
        for (int slot = 0; slot < MOST_FAULTS; slot++) {
            bytes.putInt(fault(slot) + FAULT.at("calls"), 0);
        }
    }

    /**
     * Lets the kernel's driver or the library be replaced under all open sessions.
     *
     * @param code the code of their calls from now on: 1, 9, 15 or 18
     * @param initCode the code of new sessions, until {@link #replaced} is called
     */
    public void replacing(int code, int initCode) {
        bytes.putInt(STATE.at("gone"), code);
        initFails(initCode);
        bytes.putInt(STATE.at("loads"), number("loads") + 1);
    }

    /** Lets new sessions begin, with a version of the driver. Sessions of before stay gone. */
    public void replaced(String version) {
        scramble(-1, version.getBytes(StandardCharsets.UTF_8));
        initFails(0);
    }

    /** Lets the kernel's driver be loaded, or not. */
    public void loaded(boolean loaded) {
        bytes.putInt(STATE.at("loaded"), loaded ? 1 : 0);
    }

    /** Lets the driver fail to initialize, by a return code. */
    public void initFails(int code) {
        bytes.putInt(STATE.at("initFails"), code);
    }

    /** Lets the process be root, or not. */
    public void privileged(boolean privileged) {
        bytes.putInt(STATE.at("privileged"), privileged ? 1 : 0);
    }

    /** Sets a number of the GPU instance that has a MIG device. */
    public void setOfInstance(String mig, String field, int number) {
        for (int gpu = 0; gpu < gpus(); gpu++) {
            for (int slot = 0; slot < MOST_INSTANCES; slot++) {
                int at = slot(gpu, slot);
                if (bytes.getInt(at + INSTANCE.at("used")) != 0 && uuids(at).contains(mig)) {
                    bytes.putInt(at + INSTANCE.at(field), number);
                    return;
                }
            }
        }
        throw new IllegalStateException("there is no MIG device " + mig);
    }

    /** Returns the present state, without the counters of calls. */
    public byte[] withoutCalls() {
        byte[] all = new byte[bytes.capacity()];
        bytes.get(0, all);
        Arrays.fill(all, STATE.at("counter"), STATE.at("event"), (byte) 0);
        return all;
    }

    /** Returns how often each function was called in a session, by any process. */
    public Map<String, Integer> calls() {
        Map<String, Integer> calls = new TreeMap<>();
        int at = STATE.at("counter");
        for (; at < STATE.at("event") && bytes.getInt(at + COUNTER.at("calls")) != 0; at += COUNTER.size()) {
            calls.put(text(at + COUNTER.at("function")), bytes.getInt(at + COUNTER.at("calls")));
        }
        return calls;
    }

    /** Lets a GPU report an error of an instance or, by -1, of the whole GPU. */
    public void xid(int gpu, int instance, long xid) {
        int events = number("events");
        int at = STATE.at("event") + events % MOST_EVENTS * EVENT.size();
        bytes.putInt(at + EVENT.at("gpu"), gpu);
        bytes.putInt(at + EVENT.at("instance"), instance);
        bytes.putInt(at + EVENT.at("computeInstance"), -1);
        bytes.putLong(at + EVENT.at("type"), XID);
        bytes.putLong(at + EVENT.at("data"), xid);
        bytes.putInt(STATE.at("events"), events + 1);
    }
}
