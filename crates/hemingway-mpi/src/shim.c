/* The few MPI calls that Hemingway needs. Communicators are Fortran handles, which are plain integers in every MPI.
   Errors end the program: MPI's default, and all that can be done. */

#include <mpi.h>
#include <stdlib.h>

static MPI_Comm of(int comm) { return MPI_Comm_f2c(comm); }

/* Counts are ints in MPI. */
enum { MOST = 1 << 30 };

void hemingway_mpi_start(void) {
    int given;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
}

void hemingway_mpi_finish(void) { MPI_Finalize(); }

int hemingway_mpi_world(void) { return MPI_Comm_c2f(MPI_COMM_WORLD); }

int hemingway_mpi_rank(int comm) {
    int rank;
    MPI_Comm_rank(of(comm), &rank);
    return rank;
}

int hemingway_mpi_size(int comm) {
    int size;
    MPI_Comm_size(of(comm), &size);
    return size;
}

/* The communicator of those who are in, in the order of their keys; 0 for those who are not. */
int hemingway_mpi_split(int comm, int in, int key, int *split) {
    MPI_Comm part;
    MPI_Comm_split(of(comm), in ? 0 : MPI_UNDEFINED, key, &part);
    if (part == MPI_COMM_NULL) return 0;
    *split = MPI_Comm_c2f(part);
    return 1;
}

void hemingway_mpi_release(int comm) {
    MPI_Comm handle = of(comm);
    MPI_Comm_free(&handle);
}

void hemingway_mpi_sum(int comm, double *buffer, size_t length) {
    for (size_t at = 0; at < length; at += MOST) {
        int count = (int)(length - at < MOST ? length - at : MOST);
        MPI_Allreduce(MPI_IN_PLACE, buffer + at, count, MPI_DOUBLE, MPI_SUM, of(comm));
    }
}

void hemingway_mpi_broadcast(int comm, int root, void *buffer, size_t bytes) {
    char *start = buffer;
    for (size_t at = 0; at < bytes; at += MOST) {
        int count = (int)(bytes - at < MOST ? bytes - at : MOST);
        MPI_Bcast(start + at, count, MPI_BYTE, root, of(comm));
    }
}

/* Everyone's `bytes` bytes, which may differ, one after the other. `counts` and `starts` have room for every rank. */
void hemingway_mpi_gather_lengths(int comm, int mine, int *counts) {
    MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, of(comm));
}

void hemingway_mpi_gather(int comm, const void *mine, int bytes, void *all, const int *counts, const int *starts) {
    MPI_Allgatherv(mine, bytes, MPI_BYTE, all, counts, starts, MPI_BYTE, of(comm));
}

/* Begins to send; the message has to stay where it is until hemingway_mpi_sent says so. */
void *hemingway_mpi_send(int comm, int to, const void *message, int bytes) {
    MPI_Request *request = malloc(sizeof *request);
    if (request == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Isend(message, bytes, MPI_BYTE, to, 0, of(comm), request);
    return request;
}

int hemingway_mpi_sent(void *request, int wait) {
    int done = 1;
    if (wait)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) free(request);
    return done;
}

/* Waits for the next message of a rank, and returns how many bytes it has. */
int hemingway_mpi_probe(int comm, int from) {
    MPI_Status status;
    int bytes;
    MPI_Probe(from, 0, of(comm), &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return bytes;
}

/* Whether a message has come from anyone, and from whom. */
int hemingway_mpi_look(int comm, int *from) {
    MPI_Status status;
    int there;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, of(comm), &there, &status);
    if (there) *from = status.MPI_SOURCE;
    return there;
}

void hemingway_mpi_receive(int comm, int from, void *message, int bytes) {
    MPI_Recv(message, bytes, MPI_BYTE, from, 0, of(comm), MPI_STATUS_IGNORE);
}

void hemingway_mpi_barrier(int comm) { MPI_Barrier(of(comm)); }

/* Begins a barrier that can be waited for without burning a core. */
void *hemingway_mpi_arrive(int comm) {
    MPI_Request *request = malloc(sizeof *request);
    if (request == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Ibarrier(of(comm), request);
    return request;
}

void hemingway_mpi_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
