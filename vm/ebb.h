/* ebb: runs compiled models. The C interface; its ABI is stable.
 *
 *   ebb_program* program = NULL;
 *   ebb_session* session = NULL;
 *   ebb_error* error = ebb_program_load_file("model.ebb", NULL, &program);
 *   if (!error) error = ebb_session_create(program, NULL, &session);
 *   if (!error) error = ebb_session_set_input(session, 0, &x);
 *   if (!error) error = ebb_session_run(session);
 *   if (!error) error = ebb_session_output(session, 0, &y);
 *   if (error) fprintf(stderr, "%s\n", ebb_error_message(error));
 *   ebb_error_release(error);
 *   ebb_session_release(session);
 *   ebb_program_release(program);
 *
 * Errors. Functions that can fail return an ebb_error that the caller
 * releases, or NULL when all is well. On an error the out-parameters are left
 * as they were. Pointers must not be NULL unless it says so; releasing NULL
 * does nothing.
 *
 * Threads. A program is immutable: any number of sessions in any number of
 * threads use one. A session is used by one thread at a time, and its values
 * may be read and released on any thread; only ebb_session_cancel may be
 * called on a session while another thread uses it.
 *
 * Structs with a struct_size member are extended at their end only: set it to
 * the sizeof that the program was compiled with, and every member that is not
 * used to 0. Such an options pointer may be NULL: all members are 0 then. */
#ifndef EBB_EBB_H_
#define EBB_EBB_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define EBB_API __attribute__((visibility("default")))
#else
#define EBB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A C header has no other way. NOLINTBEGIN(modernize-use-using) */

typedef struct ebb_program ebb_program;
typedef struct ebb_session ebb_session;
typedef struct ebb_value ebb_value;
typedef struct ebb_error ebb_error;
typedef struct ebb_call ebb_call;

/* The version of the library, such as "0.1.0". Never NULL, not released. */
EBB_API const char* ebb_version(void);

/* ---- Errors ------------------------------------------------------------ */

typedef enum ebb_code {
  EBB_OK = 0,
  EBB_INVALID_ARGUMENT = 1, /* A call's arguments do not fit. */
  EBB_INVALID_MODEL = 2,    /* The ONNX model is malformed. */
  EBB_UNSUPPORTED = 3,      /* Well-formed, but beyond what is built in. */
  EBB_INVALID_FILE = 4,     /* A damaged or hostile file. */
  EBB_SHAPE_MISMATCH = 5,   /* Shapes or dtypes do not fit. */
  EBB_OUT_OF_RANGE = 6,     /* An index read from data is out of its axis. */
  EBB_OUT_OF_MEMORY = 7,    /* The limit, or the system, has no more. */
  EBB_NOT_FOUND = 8,        /* A file, name or external function is missing. */
  EBB_CANCELLED = 9,        /* Another thread asked the run to stop. */
  EBB_IO = 10,              /* The system refused a read or a write. */
  EBB_LIMIT = 11            /* A stated limit was passed. */
} ebb_code;

/* EBB_OK for NULL. */
EBB_API ebb_code ebb_error_code(const ebb_error* error);
/* What happened and where, in one line without a final period. Valid until
 * the error is released; "" for NULL. */
EBB_API const char* ebb_error_message(const ebb_error* error);
/* A node, file or instruction, as it stands in front of the message too; ""
 * where there is none. Valid until the error is released. */
EBB_API const char* ebb_error_where(const ebb_error* error);
/* "out_of_memory" and the like. Never NULL, not released. */
EBB_API const char* ebb_code_name(ebb_code code);
/* For external functions. Copies the message. Never NULL. */
EBB_API ebb_error* ebb_error_create(ebb_code code, const char* message);
EBB_API void ebb_error_release(ebb_error* error);

/* ---- Tensors ----------------------------------------------------------- */

/* The numbers are those of ONNX's TensorProto.DataType. */
typedef enum ebb_dtype {
  EBB_DTYPE_INVALID = 0,
  EBB_F32 = 1,
  EBB_U8 = 2,
  EBB_I8 = 3,
  EBB_U16 = 4,
  EBB_I16 = 5,
  EBB_I32 = 6,
  EBB_I64 = 7,
  EBB_STRING = 8,
  EBB_BOOL = 9,
  EBB_F16 = 10,
  EBB_F64 = 11,
  EBB_U32 = 12,
  EBB_U64 = 13,
  EBB_C64 = 14,
  EBB_C128 = 15,
  EBB_BF16 = 16,
  EBB_F8E4M3FN = 17,
  EBB_F8E4M3FNUZ = 18,
  EBB_F8E5M2 = 19,
  EBB_F8E5M2FNUZ = 20,
  EBB_U4 = 21,
  EBB_I4 = 22,
  EBB_F4E2M1 = 23
} ebb_dtype;

/* "f32", "bool"; "invalid" for a number that is none. Not released. */
EBB_API const char* ebb_dtype_name(int32_t dtype);
/* Bits of one element; 0 for strings and for a number that is none. */
EBB_API int32_t ebb_dtype_bits(int32_t dtype);

/* A description of memory that somebody else owns. */
typedef struct ebb_tensor {
  int32_t dtype; /* An ebb_dtype. */
  int32_t rank;  /* 0 is a scalar: one element, no dims. */
  const int64_t* dims;
  const int64_t* strides; /* In elements; NULL: dense, last dim innermost. */
  void* data;             /* Inputs are only read. May be NULL when empty. */
  /* Bytes at data. Checked against what dims and strides reach when it is not
   * 0. A string tensor needs it: its data is (count + 1) little-endian u64
   * offsets from data, then the bytes of all strings. */
  size_t byte_size;
} ebb_tensor;

/* ---- Programs ---------------------------------------------------------- */

/* A function that a program calls by name. It may be called from all threads
 * that run sessions. It returns NULL or an error of ebb_error_create, which
 * ends the run with that code and message. It must not throw, nor call the
 * session that runs it. See the ebb_call functions. */
typedef ebb_error* (*ebb_external_function)(void* user, ebb_call* call);

typedef struct ebb_external {
  const char* name;
  ebb_external_function function;
  void* user; /* Passed on; must outlive the program. */
} ebb_external;

typedef struct ebb_load_options {
  size_t struct_size;
  /* Functions for the program to call; the array and names are copied. */
  const ebb_external* externals;
  size_t external_count;
  /* ebb_program_load_bytes: 0: the bytes outlive the program and are used in
   * place (where they are aligned to 64); 1: they are copied. */
  int32_t copy_bytes;
  int32_t reserved;
  /* Gets notes about the load, such as weights that had to be copied. Called
   * on the loading thread. NULL: nobody is told. */
  void (*log)(void* user, const char* message);
  void* log_user;
} ebb_load_options;

/* Loads a compiled file: maps it, checks all of it, finds the externals. The
 * file must not be changed while the program lives. */
EBB_API ebb_error* ebb_program_load_file(const char* path,
                                         const ebb_load_options* options,
                                         ebb_program** program);
/* The same from memory. */
EBB_API ebb_error* ebb_program_load_bytes(const void* bytes, size_t size,
                                          const ebb_load_options* options,
                                          ebb_program** program);
/* One more reference, for another owner. Any thread. */
EBB_API void ebb_program_retain(ebb_program* program);
/* Ends one reference. Sessions keep their program alive by themselves. */
EBB_API void ebb_program_release(ebb_program* program);

typedef enum ebb_kind {
  EBB_KIND_TENSOR = 1,
  EBB_KIND_STORAGE = 2,
  EBB_KIND_TUPLE = 3,
  EBB_KIND_SEQUENCE = 4,
  EBB_KIND_OPTIONAL = 5,
  EBB_KIND_CLOSURE = 6,
  EBB_KIND_OBJECT = 7
} ebb_kind;

/* An input or output as the program declares it. Pointers are valid as long
 * as the program. */
typedef struct ebb_info {
  size_t struct_size;
  const char* name;
  int32_t kind;        /* An ebb_kind; for tensors the next members say more. */
  int32_t dtype;       /* EBB_DTYPE_INVALID: any. */
  int32_t rank;        /* -1: any. */
  int32_t is_optional; /* An input that may be left out: it has a default. */
  const int64_t* dims; /* -1: any size, the same for equal symbols. */
  const char* const* symbols; /* Per dim; "" for a dim without a name. */
} ebb_info;

EBB_API size_t ebb_program_input_count(const ebb_program* program);
EBB_API size_t ebb_program_output_count(const ebb_program* program);
/* Set info->struct_size first. */
EBB_API ebb_error* ebb_program_input_info(const ebb_program* program,
                                          size_t index, ebb_info* info);
EBB_API ebb_error* ebb_program_output_info(const ebb_program* program,
                                           size_t index, ebb_info* info);
/* The index of a name; EBB_NOT_FOUND names those that there are. */
EBB_API ebb_error* ebb_program_input_index(const ebb_program* program,
                                           const char* name, size_t* index);
EBB_API ebb_error* ebb_program_output_index(const ebb_program* program,
                                            const char* name, size_t* index);
/* What made the file and for what; then free-form facts, sorted by key. NULL
 * past the end. Valid as long as the program. */
EBB_API const char* ebb_program_producer(const ebb_program* program);
EBB_API const char* ebb_program_target(const ebb_program* program);
EBB_API size_t ebb_program_metadata_count(const ebb_program* program);
EBB_API const char* ebb_program_metadata_key(const ebb_program* program,
                                             size_t index);
EBB_API const char* ebb_program_metadata_value(const ebb_program* program,
                                               size_t index);

/* ---- Sessions ---------------------------------------------------------- */

typedef enum ebb_allocator {
  EBB_ALLOCATOR_POOL = 0,       /* Best fit with merging: what to use. */
  EBB_ALLOCATOR_NAIVE = 1,      /* The system for every buffer. */
  EBB_ALLOCATOR_SIZE_BUCKET = 2 /* Never merged: a baseline to compare with. */
} ebb_allocator;

typedef enum ebb_backend {
  EBB_BACKEND_DEFAULT = 0,
  EBB_BACKEND_PORTABLE = 1,
  EBB_BACKEND_ONEDNN = 2 /* The portable one in a build without oneDNN. */
} ebb_backend;

/* Where a session's memory comes from, in place of pages of the system. The
 * functions must not throw, must outlive the session and its values, and are
 * called on the threads that use those. */
typedef struct ebb_backing {
  /* Aligned to align, a power of two; NULL when there is no more. */
  void* (*allocate)(void* user, size_t bytes, size_t align);
  void (*free)(void* user, void* data, size_t bytes);
  void* user;
} ebb_backing;

typedef enum ebb_memory_event_kind {
  EBB_MEMORY_ALLOCATE = 0, /* A buffer that the allocator had to ask for. */
  EBB_MEMORY_REUSE = 1,    /* A buffer out of what it held already. */
  EBB_MEMORY_KILL = 2,     /* An instruction ended a hold on a value. */
  EBB_MEMORY_RELEASE = 3   /* The last hold ended: the buffer went back. */
} ebb_memory_event_kind;

typedef struct ebb_memory_event {
  int32_t kind;
  int32_t reserved;
  const char* name; /* Of the value; "" when the file has no debug names. */
  const void* address;
  uint64_t bytes;
  uint64_t live_bytes; /* After the event. */
} ebb_memory_event;

typedef struct ebb_instruction {
  const char* function;
  size_t index; /* In the function. */
  const char* mnemonic;
  const char* op;    /* The operator of a compute instruction, else "". */
  const char* node;  /* The model's node that it came from; may be "". */
  const char* value; /* Of what it defines; "" without debug names. */
} ebb_instruction;

/* Watches the runs of a session. Each function may be NULL; they are called
 * on the running thread, must not throw and must not call the session.
 * Pointers in the events are valid during the call only. */
typedef struct ebb_observer {
  size_t struct_size;
  void* user;
  void (*before_instruction)(void* user, const ebb_instruction* instruction);
  void (*after_instruction)(void* user, const ebb_instruction* instruction);
  void (*memory)(void* user, const ebb_memory_event* event);
} ebb_observer;

typedef struct ebb_session_options {
  size_t struct_size;
  uint64_t memory_limit_bytes;  /* 0: none. Weights are not counted. */
  int32_t threads;              /* That share a run; 0: 1. */
  int32_t allocator;            /* An ebb_allocator. */
  int32_t backend;              /* An ebb_backend. */
  uint32_t call_depth_limit;    /* 0: 10,000. */
  uint32_t shapes_per_operator; /* Prepared kernels that are kept; 0: 8. */
  /* 1: outputs that are an input or a constant are handed out as they are,
   * and are valid only as long as the caller's input. 0: copied. */
  int32_t borrow_outputs;
  const ebb_backing* backing;   /* NULL: pages of the system. Copied. */
  const ebb_observer* observer; /* NULL: none. Copied. */
} ebb_session_options;

EBB_API ebb_error* ebb_session_create(ebb_program* program,
                                      const ebb_session_options* options,
                                      ebb_session** session);
/* Not while it runs. Values that were taken out stay valid. */
EBB_API void ebb_session_release(ebb_session* session);

/* Sets an input for the next run. Dtype, rank and fixed dims are checked now.
 * The memory is used in place: it must stay valid and unchanged until the run
 * returns; the description itself is copied. Inputs are forgotten when a run
 * ends, so each run needs its own. The memory of an output of the last run is
 * a legal input. */
EBB_API ebb_error* ebb_session_set_input(ebb_session* session, size_t index,
                                         const ebb_tensor* tensor);
EBB_API ebb_error* ebb_session_set_input_by_name(ebb_session* session,
                                                 const char* name,
                                                 const ebb_tensor* tensor);
/* The same with a value, which the caller keeps. */
EBB_API ebb_error* ebb_session_set_input_value(ebb_session* session,
                                               size_t index,
                                               const ebb_value* value);
/* Gives the value up: a program that says so reuses its memory. Released by
 * the session, also on an error. */
EBB_API ebb_error* ebb_session_donate_input(ebb_session* session, size_t index,
                                            ebb_value* value);
/* Forgets the inputs that are set. */
EBB_API void ebb_session_clear_inputs(ebb_session* session);

/* Has an output copied to data by every run until unbound; it fails when it
 * does not fit. The buffer may overlap inputs but not another bound buffer.
 * After a failed run its content is unspecified. */
EBB_API ebb_error* ebb_session_bind_output(ebb_session* session, size_t index,
                                           void* data, size_t byte_size);
EBB_API ebb_error* ebb_session_bind_output_by_name(ebb_session* session,
                                                   const char* name, void* data,
                                                   size_t byte_size);
EBB_API ebb_error* ebb_session_unbind_output(ebb_session* session,
                                             size_t index);

/* Runs the program. After an error the session holds nothing of the run and
 * may run again; inputs are unchanged. */
EBB_API ebb_error* ebb_session_run(ebb_session* session);
/* Makes the run in progress end with EBB_CANCELLED before its next
 * instruction. Nothing happens when there is none. Any thread. */
EBB_API void ebb_session_cancel(ebb_session* session);

/* Describes a tensor output of the last run. Always dense. The memory belongs
 * to the session and is valid until its next run, its end or
 * ebb_session_release_outputs; or it is the bound buffer. */
EBB_API ebb_error* ebb_session_output(ebb_session* session, size_t index,
                                      ebb_tensor* tensor);
EBB_API ebb_error* ebb_session_output_by_name(ebb_session* session,
                                              const char* name,
                                              ebb_tensor* tensor);
/* Keeps an output of any kind until ebb_value_release: through later runs and
 * past the end of the session. Its memory counts in the session until then.
 * No copy unless it shares its buffer with other values. */
EBB_API ebb_error* ebb_session_take_output(ebb_session* session, size_t index,
                                           ebb_value** value);
/* Lets go of the outputs now and not at the next run. */
EBB_API void ebb_session_release_outputs(ebb_session* session);

/* ---- Values ------------------------------------------------------------ */

/* An ebb_kind. */
EBB_API int32_t ebb_value_kind(const ebb_value* value);
/* Describes a tensor; valid until the value is released. */
EBB_API ebb_error* ebb_value_tensor(const ebb_value* value, ebb_tensor* tensor);
/* Items of a tuple or sequence; of an optional 0 or 1; else 0. */
EBB_API size_t ebb_value_count(const ebb_value* value);
/* A value of its own for an item. On the thread of the session, whose value
 * it is. */
EBB_API ebb_error* ebb_value_item(ebb_session* session, const ebb_value* value,
                                  size_t index, ebb_value** item);
/* Any thread, also after the session's end. */
EBB_API void ebb_value_release(ebb_value* value);

/* Make values to set as inputs, in the session's memory. The tensor's elements
 * are copied; items are shared and stay the caller's to release. */
EBB_API ebb_error* ebb_value_create_tensor(ebb_session* session,
                                           const ebb_tensor* tensor,
                                           ebb_value** value);
EBB_API ebb_error* ebb_value_create_sequence(ebb_session* session,
                                             const ebb_value* const* items,
                                             size_t count, ebb_value** value);
/* item may be NULL: an optional without a value. */
EBB_API ebb_error* ebb_value_create_optional(ebb_session* session,
                                             const ebb_value* item,
                                             ebb_value** value);

/* ---- Memory and statistics --------------------------------------------- */

/* All in bytes unless the name ends in _count. */
typedef struct ebb_stats {
  size_t struct_size;
  /* The session's buffers now: handed out, kept for later, and their sum. */
  uint64_t live_bytes;
  uint64_t cached_bytes;
  uint64_t reserved_bytes;
  /* Marks since ebb_session_reset_high_water. */
  uint64_t live_high_water_bytes;
  uint64_t reserved_high_water_bytes;
  /* Marks of the last run alone. */
  uint64_t run_live_high_water_bytes;
  uint64_t run_reserved_high_water_bytes;
  /* Weights: used in place (shared with other processes), and copies. */
  uint64_t weight_in_place_bytes;
  uint64_t weight_owned_bytes;
  uint64_t overhead_bytes; /* Records of values and registers. */
  uint64_t run_count;
  uint64_t instruction_count; /* Of the last run. */
  uint64_t allocate_count;    /* Buffers handed out, in all. */
  uint64_t reuse_count;       /* Those that needed nothing of the backing. */
  /* Prepared kernels: kept now; found and made anew, in all. */
  uint64_t handle_count;
  uint64_t handle_hit_count;
  uint64_t handle_miss_count;
} ebb_stats;

/* Set stats->struct_size first. */
EBB_API ebb_error* ebb_session_stats(const ebb_session* session,
                                     ebb_stats* stats);
/* Sets the marks to what is live and reserved now. */
EBB_API void ebb_session_reset_high_water(ebb_session* session);
/* Gives back what the session keeps for later runs. Outputs stay. */
EBB_API void ebb_session_trim(ebb_session* session);
/* 0: none. Gives cached memory back when it is below what is reserved. */
EBB_API void ebb_session_set_memory_limit(ebb_session* session, uint64_t bytes);

/* ---- Inside external functions ----------------------------------------- */

/* All on the thread of the call and only during it. */
EBB_API size_t ebb_call_argument_count(const ebb_call* call);
EBB_API size_t ebb_call_int_count(const ebb_call* call);
EBB_API size_t ebb_call_result_count(const ebb_call* call);
/* Describes a tensor argument, with its strides. is_writable (may be NULL)
 * says whether the function may write its elements. */
EBB_API ebb_error* ebb_call_tensor(const ebb_call* call, size_t index,
                                   ebb_tensor* tensor, int32_t* is_writable);
/* The pointer of an argument that ebb_call_make_object made. */
EBB_API ebb_error* ebb_call_object(const ebb_call* call, size_t index,
                                   void** object);
/* 0 past the end. */
EBB_API int64_t ebb_call_int(const ebb_call* call, size_t index);
/* A dense tensor for the result, in the session's memory; the function fills
 * its elements in. Each result is made once. */
EBB_API ebb_error* ebb_call_make_tensor(ebb_call* call, size_t index,
                                        int32_t dtype, int32_t rank,
                                        const int64_t* dims, void** data);
/* The result is an argument. */
EBB_API ebb_error* ebb_call_share_argument(ebb_call* call, size_t index,
                                           size_t argument);
/* The result is something of the embedder's, which `release` (may be NULL)
 * gets when the program lets go of it. */
EBB_API ebb_error* ebb_call_make_object(ebb_call* call, size_t index,
                                        void* object,
                                        void (*release)(void* object));

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* EBB_EBB_H_ */
