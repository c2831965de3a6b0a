// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml.jna;

import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;

/** The structs of NVML; pointers are numbers, and versioned structs start with version and size. */
public final class Structs {

    private Structs() {}

    /** Returns placements that follow one another in memory. */
    public static PlacementStruct[] placements(int count) {
        return (PlacementStruct[]) new PlacementStruct().toArray(count);
    }

    /** Returns fields that follow one another in memory. */
    public static FieldValue[] fieldValues(int count) {
        return (FieldValue[]) new FieldValue().toArray(count);
    }

    private static int version(Structure struct, int number) {
        return struct.size() | number << 24;
    }

    @FieldOrder({"busIdLegacy", "domain", "bus", "device", "pciDeviceId", "pciSubSystemId", "busId"})
    public static final class PciInfo extends Structure {
        public byte[] busIdLegacy = new byte[16];
        public int domain;
        public int bus;
        public int device;
        public int pciDeviceId;
        public int pciSubSystemId;
        public byte[] busId = new byte[32];
    }

    @FieldOrder({"total", "free", "used"})
    public static final class MemoryInfo extends Structure {
        public long total;
        public long free;
        public long used;
    }

    @FieldOrder({"version", "total", "reserved", "free", "used"})
    public static final class MemoryInfoV2 extends Structure {
        public int version;
        public long total;
        public long reserved;
        public long free;
        public long used;

        public MemoryInfoV2() {
            version = version(this, 2);
        }
    }

    @FieldOrder({"gpu", "memory"})
    public static final class Utilization extends Structure {
        public int gpu;
        public int memory;
    }

    @FieldOrder({"version", "isSupportedDevice"})
    public static final class GpmSupport extends Structure {
        public int version = 1;
        public int isSupportedDevice;
    }

    @FieldOrder({"metricId", "nvmlReturn", "value", "shortName", "longName", "unit"})
    public static final class GpmMetric extends Structure {
        public int metricId;
        public int nvmlReturn;
        public double value;
        public long shortName;
        public long longName;
        public long unit;
    }

    /** The array has 333 metrics in the newest header; the library uses as many as requested. */
    @FieldOrder({"version", "numMetrics", "sample1", "sample2", "metric", "rest"})
    public static final class GpmMetrics extends Structure {
        public int version = 1;
        public int numMetrics;
        public long sample1;
        public long sample2;
        public GpmMetric metric = new GpmMetric();
        public byte[] rest = new byte[332 * 40];
    }

    @FieldOrder({
        "multiprocessorCount",
        "sharedCopyEngineCount",
        "sharedDecoderCount",
        "sharedEncoderCount",
        "sharedJpegCount",
        "sharedOfaCount",
        "gpuInstanceSliceCount",
        "computeInstanceSliceCount",
        "memorySizeMB"
    })
    public static final class DeviceAttributes extends Structure {
        public int multiprocessorCount;
        public int sharedCopyEngineCount;
        public int sharedDecoderCount;
        public int sharedEncoderCount;
        public int sharedJpegCount;
        public int sharedOfaCount;
        public int gpuInstanceSliceCount;
        public int computeInstanceSliceCount;
        public long memorySizeMB;
    }

    @FieldOrder({"version", "value"})
    public static final class AddressingMode extends Structure {
        public int version;
        public int value;

        public AddressingMode() {
            version = version(this, 1);
        }
    }

    @FieldOrder({"version", "clusterUuid", "status", "cliqueId", "state", "healthMask"})
    public static final class FabricInfo extends Structure {
        public int version;
        public byte[] clusterUuid = new byte[16];
        public int status;
        public int cliqueId;
        public byte state;
        public int healthMask;

        public FabricInfo() {
            version = version(this, 2);
        }
    }

    @FieldOrder({"clusterUuid", "status", "cliqueId", "state"})
    public static final class OldFabricInfo extends Structure {
        public byte[] clusterUuid = new byte[16];
        public int status;
        public int cliqueId;
        public byte state;
    }

    @FieldOrder({"start", "size"})
    public static class PlacementStruct extends Structure {
        public int start;
        public int size;

        public PlacementStruct() {}

        public PlacementStruct(int start, int size) {
            this.start = start;
            this.size = size;
        }
    }

    @FieldOrder({
        "id",
        "isP2pSupported",
        "sliceCount",
        "instanceCount",
        "multiprocessorCount",
        "copyEngineCount",
        "decoderCount",
        "encoderCount",
        "jpegCount",
        "ofaCount"
    })
    public static final class ProfileNumbers extends Structure {
        public int id;
        public int isP2pSupported;
        public int sliceCount;
        public int instanceCount;
        public int multiprocessorCount;
        public int copyEngineCount;
        public int decoderCount;
        public int encoderCount;
        public int jpegCount;
        public int ofaCount;
    }

    @FieldOrder({"numbers", "memorySizeMB"})
    public static final class GpuInstanceProfile extends Structure {
        public ProfileNumbers numbers = new ProfileNumbers();
        public long memorySizeMB;
    }

    @FieldOrder({"version", "numbers", "memorySizeMB", "name"})
    public static final class NamedInstanceProfile extends Structure {
        public int version;
        public ProfileNumbers numbers = new ProfileNumbers();
        public long memorySizeMB;
        public byte[] name = new byte[96];

        public NamedInstanceProfile() {
            version = version(this, 2);
        }
    }

    @FieldOrder({"device", "id", "profileId", "placement"})
    public static final class GpuInstanceInfo extends Structure {
        public long device;
        public int id;
        public int profileId;
        public PlacementStruct placement = new PlacementStruct();
    }

    @FieldOrder({
        "id",
        "sliceCount",
        "instanceCount",
        "multiprocessorCount",
        "sharedCopyEngineCount",
        "sharedDecoderCount",
        "sharedEncoderCount",
        "sharedJpegCount",
        "sharedOfaCount"
    })
    public static final class ComputeInstanceProfile extends Structure {
        public int id;
        public int sliceCount;
        public int instanceCount;
        public int multiprocessorCount;
        public int sharedCopyEngineCount;
        public int sharedDecoderCount;
        public int sharedEncoderCount;
        public int sharedJpegCount;
        public int sharedOfaCount;
    }

    @FieldOrder({"device", "gpuInstance", "id", "profileId", "placement"})
    public static final class ComputeInstanceInfo extends Structure {
        public long device;
        public long gpuInstance;
        public int id;
        public int profileId;
        public PlacementStruct placement = new PlacementStruct();
    }

    @FieldOrder({"device", "eventType", "eventData", "gpuInstanceId", "computeInstanceId"})
    public static final class EventData extends Structure {
        public long device;
        public long eventType;
        public long eventData;
        public int gpuInstanceId;
        public int computeInstanceId;
    }

    /** The union of its value is read as an unsigned number, by {@link #unsigned}. */
    @FieldOrder({"fieldId", "scopeId", "timestamp", "latencyUsec", "valueType", "nvmlReturn", "value"})
    public static final class FieldValue extends Structure {
        private static final int UNSIGNED_INT = 1;

        public int fieldId;
        public int scopeId;
        public long timestamp;
        public long latencyUsec;
        public int valueType;
        public int nvmlReturn;
        public long value;

        /** Returns a number that is not a double; for a short type, the rest of the union is undefined. */
        public long unsigned() {
            return valueType == UNSIGNED_INT ? Integer.toUnsignedLong((int) value) : value;
        }
    }
}
